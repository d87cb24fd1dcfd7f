defmodule ElixirPlug.MixProject do
  use Mix.Project

  def project do
    [
      app: :elixir_plug,
      version: "1.0.0",
      elixir: "~> 1.14",
      deps: deps()
    ]
  end

  def application do
    [
      mod: {ElixirPlug.Application, []},
      extra_applications: [:logger],
      env: [host: "127.0.0.1", port: 4000, adapter: "bandit"]
    ]
  end

  # Bandit 1.12, Plug 1.20 and HPAX 1.0.4 want Elixir 1.15; Debian 12 has 1.14.
  defp deps do
    [
      {:plug, "~> 1.16 and < 1.20.0"},
      {:bandit, "~> 1.11 and < 1.12.0"},
      {:hpax, "<= 1.0.3"},
      {:plug_cowboy, "~> 2.7"},
      {:websock_adapter, "~> 0.5.6"},
      {:jason, "~> 1.4"}
    ]
  end
end
