using System.Text.Json;
using Microsoft.AspNetCore.SignalR;

namespace Shootout;

/// <summary>
/// The requests of docs/protocol.md as a hub of SignalR. Its clients are its own: a broadcast does not reach
/// those of the WebSocket middleware.
/// </summary>
sealed class SignalRHub : Microsoft.AspNetCore.SignalR.Hub
{
    public JsonElement Echo(JsonElement payload) => payload;

    // Answered when every connection has the message: the ack rule.
    public Task Broadcast(JsonElement payload) => Clients.All.SendAsync("broadcast", payload);

    public async Task<string> Subscribe(string topic)
    {
        await Groups.AddToGroupAsync(Context.ConnectionId, topic);
        return topic;
    }

    public async Task<string> Publish(string topic, JsonElement payload)
    {
        await Clients.Group(topic).SendAsync("message", topic, payload);
        return topic;
    }
}
