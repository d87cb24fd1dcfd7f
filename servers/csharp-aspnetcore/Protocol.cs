using System.Buffers;
using System.Net.WebSockets;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Shootout;

/// <summary>The text and binary dialects of docs/protocol.md.</summary>
sealed partial class Protocol(Hub hub)
{
    // One byte must not become six: a legal message could then exceed the bound on what waits.
    static readonly JsonWriterOptions Relaxed = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
    static readonly JsonDocumentOptions Deep = new() { MaxDepth = 512 };

    [GeneratedRegex(@"\A[A-Za-z0-9._:-]{1,64}\z")]
    private static partial Regex TopicName();

    public Hub Hub => hub;

    public void Answer(Client client, Message message)
    {
        if (message.Type == WebSocketMessageType.Binary)
        {
            AnswerBinary(client, message.Payload);
            return;
        }
        try
        {
            using JsonDocument request = JsonDocument.Parse(message.Payload, Deep);
            AnswerText(client, request.RootElement);
        }
        catch (Exception unreadable) when (unreadable is JsonException or InvalidOperationException)
        {
            // Malformed, nested too deep, or a string with a lone surrogate.
            Refuse(client, "the message cannot be read");
        }
    }

    void AnswerText(Client client, JsonElement request)
    {
        if (request.ValueKind != JsonValueKind.Object)
        {
            Refuse(client, "the message is not a JSON object");
            return;
        }
        string? type = Text(request, "type");
        string? topic = Text(request, "topic");
        bool named = topic is not null && TopicName().IsMatch(topic);
        bool loaded = request.TryGetProperty("payload", out JsonElement payload);
        switch (type)
        {
            case "echo" when loaded:
                client.Send(Encode("echo", null, payload));
                break;
            case "broadcast" when loaded:
                hub.Broadcast(Encode("broadcast", null, payload));
                client.Send(Encode("broadcastResult", null, payload));
                break;
            case "subscribe" when named:
                hub.Subscribe(client, topic!, Encode("subscribed", topic, null));
                break;
            case "unsubscribe" when named:
                hub.Unsubscribe(client, topic!, Encode("unsubscribed", topic, null));
                break;
            case "publish" when named && loaded:
                hub.Publish(topic!, Encode("message", topic, payload));
                client.Send(Encode("publishResult", topic, payload));
                break;
            default:
                Refuse(client, "\"type\" is missing or unknown, or \"topic\" or \"payload\" is missing or unfit");
                break;
        }
    }

    void AnswerBinary(Client client, byte[] message)
    {
        switch (message.Length == 0 ? 0 : message[0])
        {
            case 'e':
                client.Send(new Message(WebSocketMessageType.Binary, message));
                break;
            case 'b':
                var result = (byte[])message.Clone();
                result[0] = (byte)'r';
                hub.Broadcast(new Message(WebSocketMessageType.Binary, message));
                client.Send(new Message(WebSocketMessageType.Binary, result));
                break;
            default:
                Refuse(client, "the binary message is empty, or byte 0 is neither \"e\" nor \"b\"");
                break;
        }
    }

    static string? Text(JsonElement request, string name) =>
        request.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;

    static void Refuse(Client client, string words) =>
        client.Send(Encode("error", null, JsonSerializer.SerializeToElement(words)));

    static Message Encode(string type, string? topic, JsonElement? payload)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(buffer, Relaxed))
        {
            writer.WriteStartObject();
            writer.WriteString("type", type);
            if (topic is not null)
            {
                writer.WriteString("topic", topic);
            }
            if (payload is JsonElement value)
            {
                writer.WritePropertyName("payload");
                value.WriteTo(writer);
            }
            writer.WriteEndObject();
        }
        return new Message(WebSocketMessageType.Text, buffer.WrittenSpan.ToArray());
    }
}
