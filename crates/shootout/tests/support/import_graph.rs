//! The imports between the top-level modules of a crate, read from its sources.
//!
//! A path that begins with `crate`, or that leaves its module by `super`, is an import; a name that
//! the crate's root re-exports stands for the module that it comes from. Code under `#[cfg(test)]`
//! does not count, nor does a macro that is called by its bare name. Each crate's own test includes
//! this file by `#[path]`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use syn::buffer::{Cursor, TokenBuffer};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree};

/// Checks the crate, or the tree of modules, whose sources are in `src`: no module may import itself around any corner. With
/// `layers`, from the highest to the lowest, a module may only import modules of lower layers, and
/// each module stands in one of them. Without layers any import that makes no cycle is right.
///
/// # Errors
/// The imports that break a rule, one a line, or the file that cannot be read.
pub(crate) fn check(src: &Path, layers: &[&[&str]]) -> Result<(), String> {
    let graph = Graph::read(src)?;
    let mut broken = Vec::new();
    if let Some(cycle) = graph.shortest_cycle() {
        broken.push(format!("modules import each other: {}", cycle.join(" -> ")));
        broken.extend(cycle.windows(2).map(|pair| graph.line(&pair[0], &pair[1])));
    }
    if !layers.is_empty() {
        broken.extend(graph.against(layers));
    }
    if broken.is_empty() {
        return Ok(());
    }
    Err(broken.join("\n"))
}

#[derive(Default)]
struct Graph {
    modules: BTreeSet<String>,
    /// The module that each re-exported name of the root comes from.
    names: BTreeMap<String, String>,
    /// By importing and imported module, the first place.
    imports: BTreeMap<String, BTreeMap<String, String>>,
}

impl Graph {
    fn read(src: &Path) -> Result<Self, String> {
        let root = ["lib.rs", "main.rs", "mod.rs"].map(|name| src.join(name));
        let root = root.iter().find(|file| file.exists());
        let root = parse(root.ok_or_else(|| format!("{}: no crate", src.display()))?)?;
        let mut graph = Self::default();
        for item in &root.items {
            match item {
                Item::Mod(module) if !is_test(&module.attrs) => {
                    graph.modules.insert(module.ident.to_string());
                }
                Item::Use(import) if !is_test(&import.attrs) => {
                    for mut path in paths(&import.tree) {
                        path.retain(|part| part != "crate" && part != "self");
                        if let (Some(module), Some(name)) = (path.first(), path.last()) {
                            graph.names.insert(name.clone(), module.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        let mut reader = Reader {
            src,
            file: PathBuf::new(),
            module: Vec::new(),
            graph,
            error: None,
        };
        for item in &root.items {
            if let Item::Mod(module) = item {
                reader.visit_item_mod(module);
            }
        }
        match reader.error {
            Some(error) => Err(error),
            None => Ok(reader.graph),
        }
    }

    fn imported_by(&self, module: &str) -> impl Iterator<Item = &String> {
        self.imports
            .get(module)
            .into_iter()
            .flat_map(BTreeMap::keys)
    }

    fn line(&self, from: &str, to: &str) -> String {
        format!("  {from} -> {to}: {}", self.imports[from][to])
    }

    fn shortest_cycle(&self) -> Option<Vec<String>> {
        let cycles = self
            .modules
            .iter()
            .filter_map(|module| self.way_back(module));
        cycles.min_by_key(Vec::len)
    }

    /// The shortest way along imports from a module to itself.
    fn way_back(&self, start: &str) -> Option<Vec<String>> {
        let mut seen = BTreeSet::new();
        let mut ways = VecDeque::from([vec![start.to_owned()]]);
        while let Some(way) = ways.pop_front() {
            for next in self.imported_by(&way[way.len() - 1]) {
                let mut longer = way.clone();
                longer.push(next.clone());
                if next == start {
                    return Some(longer);
                }
                if seen.insert(next) {
                    ways.push_back(longer);
                }
            }
        }
        None
    }

    fn against(&self, layers: &[&[&str]]) -> Vec<String> {
        let layer = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        let mut broken = Vec::new();
        for name in layers.iter().copied().flatten() {
            if !self.modules.contains(*name) {
                broken.push(format!("a layer names {name}, which is no module"));
            }
        }
        for module in &self.modules {
            let Some(own) = layer(module) else {
                broken.push(format!("{module} is in no layer"));
                continue;
            };
            for other in self.imported_by(module) {
                if layer(other).is_some_and(|other| other <= own) {
                    broken.push(format!("not down:{}", self.line(module, other)));
                }
            }
        }
        broken
    }
}

/// Collects the imports of a module and of those within it.
struct Reader<'a> {
    src: &'a Path,
    file: PathBuf,
    /// Where the reader is, from the crate's root.
    module: Vec<String>,
    graph: Graph,
    error: Option<String>,
}

impl Reader<'_> {
    fn read_file_of_module(&mut self) {
        let base = self.src.join(self.module.iter().collect::<PathBuf>());
        let folder = base.join("mod.rs");
        let file = if folder.exists() {
            folder
        } else {
            base.with_extension("rs")
        };
        match parse(&file) {
            Ok(parsed) => {
                let outer = std::mem::replace(&mut self.file, file);
                self.visit_file(&parsed);
                self.file = outer;
            }
            Err(error) => self.error = Some(error),
        }
    }

    fn used(&mut self, path: &[String]) {
        let Some(target) = self.behind_root(path) else {
            return;
        };
        if target == "*" {
            let file = self.file.display();
            self.error = Some(format!(
                "{file}: a glob of the crate's root hides what is imported"
            ));
            return;
        }
        let module = match self.graph.names.get(target) {
            Some(module) if !self.graph.modules.contains(target) => module.clone(),
            _ => target.clone(),
        };
        if module != self.module[0] && self.graph.modules.contains(&module) {
            let place = format!("{}: {}", self.file.display(), path.join("::"));
            let imports = self.graph.imports.entry(self.module[0].clone());
            imports.or_default().entry(module).or_insert(place);
        }
    }

    /// The first part behind the crate's root, of a path that goes through it.
    fn behind_root<'p>(&self, path: &'p [String]) -> Option<&'p String> {
        let rest = if path.first()? == "self" {
            &path[1..]
        } else {
            path
        };
        let ups = rest.iter().take_while(|part| *part == "super").count();
        match rest.first()?.as_str() {
            "crate" => rest.get(1),
            "super" if ups == self.module.len() => rest.get(ups),
            _ => None,
        }
    }

    /// Paths in the tokens of a macro call, which are not parsed.
    fn tokens(&mut self, mut at: Cursor<'_>) {
        let mut path: Vec<String> = Vec::new();
        while let Some((_, next)) = at.token_tree() {
            let separated = path.is_empty() || path.last().is_some_and(|part| part == "::");
            if let Some((inner, ..)) = at.any_group() {
                self.tokens(inner);
                self.end_of(&mut path);
            } else if let Some((ident, _)) = at.ident() {
                if !separated {
                    self.end_of(&mut path);
                }
                path.push(ident.to_string());
            } else if let Some(behind) = double_colon(at) {
                path.push("::".into());
                at = behind;
                continue;
            } else {
                self.end_of(&mut path);
            }
            at = next;
        }
        self.end_of(&mut path);
    }

    fn end_of(&mut self, path: &mut Vec<String>) {
        path.retain(|part| part != "::");
        self.used(path);
        path.clear();
    }
}

macro_rules! skip_tests {
    ($($visit:ident: $node:ident),*) => {$(
        fn $visit(&mut self, node: &'ast syn::$node) {
            if !is_test(&node.attrs) {
                visit::$visit(self, node);
            }
        }
    )*};
}

impl<'ast> Visit<'ast> for Reader<'_> {
    skip_tests!(
        visit_item_const: ItemConst,
        visit_item_enum: ItemEnum,
        visit_item_fn: ItemFn,
        visit_item_impl: ItemImpl,
        visit_item_macro: ItemMacro,
        visit_item_static: ItemStatic,
        visit_item_struct: ItemStruct,
        visit_item_trait: ItemTrait,
        visit_item_type: ItemType,
        visit_impl_item_fn: ImplItemFn,
        visit_field: Field,
        visit_local: Local
    );

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if is_test(&node.attrs) {
            return;
        }
        self.module.push(node.ident.to_string());
        match &node.content {
            Some((_, items)) => items.iter().for_each(|item| self.visit_item(item)),
            None => self.read_file_of_module(),
        }
        self.module.pop();
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        if !is_test(&node.attrs) {
            paths(&node.tree).iter().for_each(|path| self.used(path));
        }
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        let path: Vec<String> = node.segments.iter().map(|s| s.ident.to_string()).collect();
        self.used(&path);
        visit::visit_path(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.tokens(TokenBuffer::new2(node.tokens.clone()).begin());
        visit::visit_macro(self, node);
    }
}

fn parse(file: &Path) -> Result<syn::File, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn double_colon(at: Cursor<'_>) -> Option<Cursor<'_>> {
    let (first, next) = at.punct()?;
    let (second, behind) = next.punct()?;
    (first.as_char() == ':' && second.as_char() == ':').then_some(behind)
}

/// Every path that a `use` names.
pub(crate) fn paths(tree: &UseTree) -> Vec<Vec<String>> {
    let one = |name: String| vec![vec![name]];
    match tree {
        UseTree::Path(path) => {
            let mut rest = paths(&path.tree);
            rest.iter_mut()
                .for_each(|rest| rest.insert(0, path.ident.to_string()));
            rest
        }
        UseTree::Name(name) => one(name.ident.to_string()),
        UseTree::Rename(name) => one(name.ident.to_string()),
        UseTree::Glob(_) => one("*".into()),
        UseTree::Group(group) => group.items.iter().flat_map(paths).collect(),
    }
}

/// True where an attribute keeps code for tests.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args().is_ok_and(|meta| needs_test(&meta))
    })
}

fn needs_test(condition: &Meta) -> bool {
    let parts = || {
        let list = condition.require_list().ok()?;
        let parts = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        list.parse_args_with(parts).ok()
    };
    condition.path().is_ident("test")
        || condition.path().is_ident("all")
            && parts().is_some_and(|parts| parts.iter().any(needs_test))
}
