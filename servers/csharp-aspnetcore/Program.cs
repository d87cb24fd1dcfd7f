using System.Net.WebSockets;
using Microsoft.AspNetCore.Http.Connections;
using Shootout;

// The server of docs/protocol.md on ASP.NET Core; it runs until a signal ends the process.

Options options;
try
{
    options = Options.Parse(args);
}
catch (ArgumentException wrong)
{
    return Fail(2, wrong.Message);
}
if (options.Version)
{
    Console.WriteLine($"ASP.NET Core {Environment.Version}");
    return 0;
}

var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(options.Address, options.Port));
builder.WebHost.UseSockets(sockets => sockets.Backlog = 4096); // the kernel lowers it to net.core.somaxconn
builder.Services.AddSignalR(signalr => signalr.MaximumReceiveMessageSize = Client.LargestMessage);
builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(1));

var app = builder.Build();
app.UseWebSockets(new WebSocketOptions { KeepAliveInterval = Timeout.InfiniteTimeSpan });

var protocol = new Protocol(new Hub());
app.MapGet("/ws", ServeProtocol);
app.MapGet("/raw", ServeRawEcho);
app.MapHub<SignalRHub>("/signalr", signalr => signalr.Transports = HttpTransportType.WebSockets);

try
{
    app.Run();
    return 0;
}
catch (IOException refused)
{
    return Fail(1, $"{refused.Message} Choose another with --host or --port.");
}

async Task ServeProtocol(HttpContext context)
{
    if (!context.WebSockets.IsWebSocketRequest)
    {
        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        return;
    }
    var client = new Client(context.Abort);
    // Before the handshake is answered: no broadcast sent after that passes the client by.
    protocol.Hub.Join(client);
    try
    {
        using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
        await client.RunAsync(socket, message => protocol.Answer(client, message));
    }
    finally
    {
        protocol.Hub.Leave(client);
    }
}

// Sends every message back as it came, for Autobahn|Testsuite.
async Task ServeRawEcho(HttpContext context)
{
    if (!context.WebSockets.IsWebSocketRequest)
    {
        context.Response.StatusCode = StatusCodes.Status400BadRequest;
        return;
    }
    var client = new Client(context.Abort);
    using WebSocket socket = await context.WebSockets.AcceptWebSocketAsync();
    await client.RunAsync(socket, client.Send);
}

static int Fail(int code, string words)
{
    Console.Error.WriteLine($"csharp-aspnetcore: {words}");
    return code;
}
