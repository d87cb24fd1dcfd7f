'use strict';

// The dialect "Socket.IO" of docs/protocol.md: which events a client may send,
// and what they do. Rooms are the library's own.

const NAME = /^[A-Za-z0-9._:-]{1,64}$/;

/**
 * @param {object} socket A client that has just connected
 * @param {(room: string | undefined, event: string, ...args: unknown[]) => void} publish
 *     To the members of a room, or to all clients
 * @param {(event: string, ...args: unknown[]) => void} respond To the client, behind
 *     what was published before
 * @param {(event: string, ...args: unknown[]) => void} answer To the client, at once
 */
function serve(socket, publish, respond, answer) {
  const fail = (words) => answer('error', words);
  const noPayload = () => fail('the payload is missing');
  const noTopic = () => fail('the topic is missing or no name');

  socket.on('echo', (payload) => {
    if (payload === undefined) return noPayload();
    answer('echo', payload);
  });
  socket.on('broadcast', (payload) => {
    if (payload === undefined) return noPayload();
    publish(undefined, 'broadcast', payload);
    respond('broadcastResult', payload);
  });
  socket.on('subscribe', (topic) => {
    if (!isTopic(topic)) return noTopic();
    socket.join(room(topic));
    answer('subscribed', topic);
  });
  socket.on('unsubscribe', (topic) => {
    if (!isTopic(topic)) return noTopic();
    socket.leave(room(topic));
    answer('unsubscribed', topic);
  });
  socket.on('publish', (topic, payload) => {
    if (!isTopic(topic)) return noTopic();
    if (payload === undefined) return noPayload();
    publish(room(topic), 'message', topic, payload);
    respond('publishResult', topic, payload);
  });
}

function isTopic(value) {
  return typeof value === 'string' && NAME.test(value);
}

// Each client is also in a room of the name of its own id, which no topic is.
function room(topic) {
  return `topic ${topic}`;
}

module.exports = { serve };
