defmodule ElixirCowboy.MixProject do
  use Mix.Project

  # Cowboy and jsx, which vendor.sh has put there. They are not in deps/0,
  # so that Mix does not ask for Hex.
  for ebin <- Path.wildcard(Path.join(__DIR__, "vendor/*/ebin")), do: Code.append_path(ebin)

  def project do
    [
      app: :elixir_cowboy,
      version: "1.0.0",
      elixir: "~> 1.14",
      prune_code_paths: false
    ]
  end

  def application do
    [
      mod: {ElixirCowboy.Application, []},
      extra_applications: [:logger, :cowboy, :jsx],
      env: [host: "127.0.0.1", port: 4000, deflate: false]
    ]
  end
end
