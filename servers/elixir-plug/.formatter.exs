[
  inputs: ["{mix,.formatter}.exs", "{config,lib}/**/*.{ex,exs}"],
  # As Plug exports them; import_deps would want Plug here before anything is fetched.
  locals_without_parens: [plug: 1, get: 2, match: 2]
]
