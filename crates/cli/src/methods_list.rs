//! Several methods in one flag: `gossip,gut:mu=0.5,reading=printed,qg-gut`.

/// Splits at commas. A part like `reading=printed`, which is a parameter and not a method, belongs
/// to the method before it.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let is_parameter = part.contains('=') && !part.contains(':');
        match methods.last_mut() {
            Some(method) if is_parameter => {
                method.push(if method.contains(':') { ',' } else { ':' });
                method.push_str(part);
            }
            _ => methods.push(part.to_string()),
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
