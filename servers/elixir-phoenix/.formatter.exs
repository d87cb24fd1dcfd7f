[
  inputs: ["{mix,.formatter}.exs", "{config,lib}/**/*.{ex,exs}"],
  # As Phoenix exports them; import_deps would want Phoenix here before anything is fetched.
  locals_without_parens: [plug: 1, socket: 3, channel: 2]
]
