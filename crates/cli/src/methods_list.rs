//! `gossip,gut:mu=0.5,reading=printed,qg-gut`: methods in one flag.

/// Splits at commas; a piece like `reading=printed`, which names a parameter and no
/// method, belongs to the method before it.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
        let is_parameter = piece.contains('=') && !piece.contains(':');
        match methods.last_mut() {
            Some(method) if is_parameter => {
                method.push(if method.contains(':') { ',' } else { ':' });
                method.push_str(piece);
            }
            _ => methods.push(piece.to_string()),
        }
    }
    methods
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn parameters_stay_with_their_method() {
        let methods = split("gossip, gut:mu=0.5,reading=printed ,qg-gut,");
        assert_eq!(methods, ["gossip", "gut:mu=0.5,reading=printed", "qg-gut"]);
    }
}
