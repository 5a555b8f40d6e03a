//! GraphML files: nodes in document order are agents 0, 1, 2, ...
//!
//! `edgedefault` says whether edges are directed, an edge's own `directed`
//! attribute wins. Data, keys and ports are skipped; only the first graph of a
//! file is read, and nested graphs are refused with it.

use super::{Drawing, Names, Unreadable};

pub(super) fn parse(text: &str) -> Result<Drawing, Unreadable> {
    let document = roxmltree::Document::parse(text).map_err(|error| {
        Unreadable::new(error.pos().row as usize, "well-formed XML", error.to_string())
    })?;
    let line = |node: &roxmltree::Node| document.text_pos_at(node.range().start).row as usize;
    let root = document.root_element();
    let is = |tag: &'static str| move |node: &roxmltree::Node| node.tag_name().name() == tag;
    let graph = root.children().find(is("graph")).ok_or_else(|| {
        let found = format!("<{}> without one", root.tag_name().name());
        Unreadable::new(line(&root), "<graphml> with a <graph>", found)
    })?;
    let directed_by_default = match graph.attribute("edgedefault") {
        Some("directed") => true,
        Some("undirected") | None => false,
        Some(other) => {
            let expected = "edgedefault \"directed\" or \"undirected\"";
            return Err(Unreadable::new(line(&graph), expected, format!("\"{other}\"")));
        }
    };
    if let Some(nested) = graph.descendants().skip(1).find(is("graph")) {
        return Err(Unreadable::new(line(&nested), "a plain graph", "a graph inside a graph"));
    }

    let mut names = Names::default();
    for node in graph.children().filter(is("node")) {
        let id = node
            .attribute("id")
            .ok_or_else(|| Unreadable::new(line(&node), "an id on <node>", "none"))?;
        let known = names.len();
        if names.number(id.into()) < known {
            return Err(Unreadable::new(line(&node), "a new node id", format!("\"{id}\" again")));
        }
    }
    let mut drawing = Drawing { agents: names.len(), ..Drawing::default() };
    for edge in graph.children().filter(is("edge")) {
        let end = |attribute: &str| {
            let id = edge.attribute(attribute).unwrap_or("");
            names.get(id).ok_or_else(|| {
                let expected = format!("the id of a node as {attribute} of <edge>");
                Unreadable::new(line(&edge), expected, format!("\"{id}\""))
            })
        };
        let pair = (end("source")?, end("target")?);
        let directed = match edge.attribute("directed") {
            Some("true") => true,
            Some("false") => false,
            None => directed_by_default,
            Some(other) => {
                let expected = "directed \"true\" or \"false\"";
                return Err(Unreadable::new(line(&edge), expected, format!("\"{other}\"")));
            }
        };
        if directed { &mut drawing.arcs } else { &mut drawing.edges }.push(pair);
    }
    Ok(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"#;

    #[test]
    fn nodes_in_document_order_edges_as_they_say() {
        let text = format!(
            "{HEAD}<key id='k'/><graph edgedefault='undirected'><node id='b'/><node id='a'/>
             <edge source='a' target='b'><data key='k'>1</data></edge>
             <edge source='b' target='a' directed='true'/></graph></graphml>"
        );
        let drawing = parse(&text).unwrap();
        assert_eq!(drawing, Drawing { agents: 2, arcs: vec![(0, 1)], edges: vec![(1, 0)] });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (body, line, said) in [
            ("<graph>\n<edge source='x' target='y'/></graph>", 2, "source"),
            ("<graph edgedefault='maybe'/>", 1, "edgedefault"),
            ("<graph><node/></graph>", 1, "id"),
            ("<graph><node id='a'/>\n<node id='a'/></graph>", 2, "new node id"),
            ("<other/>", 1, "<graph>"),
        ] {
            let error = parse(&format!("{HEAD}{body}</graphml>")).unwrap_err();
            assert_eq!(error.line, line, "{error:?}");
            assert!(error.expected.contains(said), "{error:?}");
        }
        assert_eq!(parse("<graphml>\n<graph>").unwrap_err().expected, "well-formed XML");
    }
}
