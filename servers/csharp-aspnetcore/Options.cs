using System.Net;

namespace Shootout;

/// <summary>The command line of the server.</summary>
sealed record Options(IPAddress Address, int Port, bool Version)
{
    /// <exception cref="ArgumentException">With words for the user: an unknown flag or an unfit value.</exception>
    public static Options Parse(string[] args)
    {
        var options = new Options(IPAddress.Loopback, 3000, false);
        for (int i = 0; i < args.Length; i++)
        {
            options = args[i] switch
            {
                "--host" => options with { Address = ReadAddress(Value(args, ++i)) },
                "--port" => options with { Port = ReadPort(Value(args, ++i)) },
                "--version" => options with { Version = true },
                _ => throw new ArgumentException($"unknown argument \"{args[i]}\"; there are --host, --port and --version"),
            };
        }
        return options;
    }

    static string Value(string[] args, int index) =>
        index < args.Length ? args[index] : throw new ArgumentException($"{args[index - 1]} needs a value");

    static IPAddress ReadAddress(string text) =>
        IPAddress.TryParse(text, out IPAddress? address)
            ? address
            : throw new ArgumentException($"--host {text}: give an IP address");

    static int ReadPort(string text) =>
        ushort.TryParse(text, out ushort port)
            ? port
            : throw new ArgumentException($"--port {text}: give an integer from 0 to 65535");
}
