import Config

config :phoenix, :json_library, Jason

# Errors only, and to stderr. The first form is Elixir 1.14's, the second that of later ones.
config :logger, level: :error
config :logger, :console, device: :standard_error
config :logger, :default_handler, config: [type: :standard_error]
