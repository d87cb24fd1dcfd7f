using System.Net.WebSockets;
using System.Threading.Channels;

namespace Shootout;

readonly record struct Message(WebSocketMessageType Type, byte[] Payload);

/// <summary>
/// A connection and the messages that wait for it. Any thread may send to it, from its handshake on, and no
/// send waits for the peer.
/// </summary>
sealed class Client(Action abort)
{
    // Bytes; docs/protocol.md, "Limits".
    public const int LargestMessage = 16 * 1024 * 1024;
    const long MostQueued = 64L * 1024 * 1024;

    const int BufferSize = 4096;

    readonly Channel<Message> waiting = Channel.CreateUnbounded<Message>(
        new UnboundedChannelOptions { SingleReader = true });

    long queued;

    /// <summary>What it is subscribed to; under the lock of the hub's topics.</summary>
    public HashSet<string> Topics { get; } = [];

    /// <summary>Cuts the connection off when too much waits. One message is always taken when nothing does.</summary>
    public void Send(Message message)
    {
        int size = message.Payload.Length;
        long now = Interlocked.Add(ref queued, size);
        if (now > MostQueued && now > size)
        {
            waiting.Writer.TryComplete();
            abort();
            return;
        }
        waiting.Writer.TryWrite(message);
    }

    /// <summary>Returns when the connection has ended, and nothing is sent any more.</summary>
    public async Task RunAsync(WebSocket socket, Action<Message> receive)
    {
        Task sending = SendAllAsync(socket);
        var buffer = new byte[BufferSize];
        try
        {
            while (await ReceiveAsync(socket, buffer) is Message message)
            {
                receive(message);
            }
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // The library has sent the close code that is due.
        }
        waiting.Writer.TryComplete();
        await sending;
    }

    /// <summary>The next message, or null at the end of the connection.</summary>
    static async Task<Message?> ReceiveAsync(WebSocket socket, byte[] buffer)
    {
        MemoryStream? parts = null;
        while (true)
        {
            ValueWebSocketReceiveResult part = await socket.ReceiveAsync(buffer.AsMemory(), CancellationToken.None);
            if (part.MessageType == WebSocketMessageType.Close)
            {
                return null;
            }
            if (parts is null && part.EndOfMessage)
            {
                return new Message(part.MessageType, buffer[..part.Count]);
            }
            parts ??= new MemoryStream();
            parts.Write(buffer, 0, part.Count);
            if (parts.Length > LargestMessage)
            {
                await socket.CloseOutputAsync(WebSocketCloseStatus.MessageTooBig, null, CancellationToken.None);
                return null;
            }
            if (part.EndOfMessage)
            {
                return new Message(part.MessageType, parts.ToArray());
            }
        }
    }

    /// <summary>Sends what waits, and then answers a close frame.</summary>
    async Task SendAllAsync(WebSocket socket)
    {
        try
        {
            await foreach (Message message in waiting.Reader.ReadAllAsync())
            {
                await socket.SendAsync(message.Payload.AsMemory(), message.Type, endOfMessage: true, CancellationToken.None);
                Interlocked.Add(ref queued, -message.Payload.Length);
            }
            if (socket.State == WebSocketState.CloseReceived)
            {
                await socket.CloseOutputAsync(
                    socket.CloseStatus ?? WebSocketCloseStatus.Empty, socket.CloseStatusDescription, CancellationToken.None);
            }
        }
        catch (Exception ended) when (IsEnd(ended))
        {
            // The task that reads meets it too.
        }
    }

    static bool IsEnd(Exception exception) =>
        exception is WebSocketException or IOException or OperationCanceledException or ObjectDisposedException;
}
