defmodule Mix.Tasks.Server do
  @shortdoc "Runs the WebSocket server"
  @moduledoc """
  Runs the WebSocket server in the foreground.

      mix server [--host 127.0.0.1] [--port 4000] [--deflate]
                 [--tls-cert FILE --tls-key FILE] [--node-ports PORT,PORT...]
      mix server --version

  With `--deflate` it compresses for clients that offer it, with `--tls-cert` and
  `--tls-key` it serves TLS. With `--node-ports`, the ports of all nodes, it is one
  of several, which find each other through epmd. `mix run --no-halt` runs it with the defaults. Every path is the protocol's but
  `/raw`, which sends every message back as it came.
  """
  use Mix.Task

  @flags [
    host: :string,
    port: :integer,
    deflate: :boolean,
    tls_cert: :string,
    tls_key: :string,
    node_ports: :string,
    version: :boolean,
    help: :boolean
  ]

  @impl true
  def run(args) do
    case OptionParser.parse(args, strict: @flags) do
      {options, [], []} -> start(Map.new(options))
      {_, [argument | _], _} -> wrong("unexpected argument #{argument}")
      {_, _, [{flag, nil} | _]} -> wrong("#{flag} is unknown, or lacks its value")
      {_, _, [{flag, value} | _]} -> wrong("#{flag} cannot be #{value}")
    end
  end

  defp start(%{help: true}), do: Mix.shell().info(@moduledoc)

  defp start(%{version: true}) do
    for library <- [:cowboy, :jsx], do: Application.load(library)
    Mix.shell().info("cowboy #{version(:cowboy)} (jsx #{version(:jsx)}, #{runtime()})")
  end

  defp start(%{port: port}) when port not in 0..65535,
    do: wrong("--port #{port}: give an integer from 0 to 65535")

  defp start(options) when is_map_key(options, :tls_cert) != is_map_key(options, :tls_key),
    do: wrong("--tls-cert and --tls-key belong together: give both")

  defp start(options) do
    Mix.Task.run("loadconfig")

    for {name, value} <- options,
        do: Application.put_env(:elixir_cowboy, name, read(name, value), persistent: true)

    Mix.Task.run("run", ["--no-halt"])
  end

  defp read(:node_ports, list), do: list |> String.split(",") |> Enum.map(&port/1)
  defp read(_name, value), do: value

  defp port(text) do
    case Integer.parse(text) do
      {port, ""} when port in 1..65535 -> port
      _ -> wrong("--node-ports: #{text} is no port")
    end
  end

  defp wrong(words), do: Mix.raise("#{words}; see mix server --help")

  defp version(library), do: Application.spec(library, :vsn)

  defp runtime, do: "Elixir #{System.version()}, OTP #{System.otp_release()}"
end
