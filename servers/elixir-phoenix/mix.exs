defmodule ElixirPhoenix.MixProject do
  use Mix.Project

  def project do
    [
      app: :elixir_phoenix,
      version: "1.0.0",
      elixir: "~> 1.14",
      # The name that the task had until Phoenix 1.3.
      aliases: ["phoenix.server": "phx.server"],
      deps: deps()
    ]
  end

  def application do
    [
      mod: {ElixirPhoenix.Application, []},
      extra_applications: [:logger]
    ]
  end

  # Phoenix 1.8, Bandit 1.12, Plug 1.20 and HPAX 1.0.4 want Elixir 1.15; Debian 12 has 1.14.
  defp deps do
    [
      {:phoenix, "~> 1.7.14"},
      {:plug, "~> 1.16 and < 1.20.0"},
      {:bandit, "~> 1.11 and < 1.12.0"},
      {:hpax, "<= 1.0.3"},
      {:plug_cowboy, "~> 2.7"},
      {:websock_adapter, "~> 0.5.6"},
      {:jason, "~> 1.4"}
    ]
  end
end
