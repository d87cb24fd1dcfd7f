// A chat whose messages are protobuf: what one says all hear, and the one that says it hears that it was
// said. Prints its URL.
import protobuf from "protobufjs";
import { WebSocketServer } from "ws";

const schema = `
  syntax = "proto3";
  message Say { fixed64 id = 1; bytes text = 2; }
  message Sent { fixed64 id = 1; }
  message Hello { string name = 1; }
  message Frame { oneof kind { Say say = 1; Sent sent = 2; Hello hello = 3; Hello welcome = 4; Say echo = 5; } }
`;
const Frame = protobuf.parse(schema).root.lookupType("Frame");
const bytes = (frame) => Frame.encode(Frame.create(frame)).finish();
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, backlog: 4096 });
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const frame = Frame.decode(data);
    if (frame.hello) return socket.send(bytes({ welcome: frame.hello }));
    if (frame.echo) return socket.send(bytes(frame));
    const said = bytes({ say: frame.say });
    for (const each of server.clients) each.send(said);
    socket.send(bytes({ sent: { id: frame.say.id } }));
  });
});
server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}/`));
