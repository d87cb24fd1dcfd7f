import ws from 'k6/ws';

export const options = {
  scenarios: { users: { executor: 'per-vu-iterations', vus: 50, iterations: 1 } },
};

export default function () {
  ws.connect(__ENV.URL, {}, (socket) => {
    let sent = 0;
    let received = 0;
    socket.on('open', () => {
      socket.setInterval(() => {
        if (sent < 10) {
          sent += 1;
          socket.send(`message ${sent} of user ${__VU}`);
        }
      }, 1000);
    });
    socket.on('message', () => {
      received += 1;
      if (received === 10) socket.close();
    });
  });
}
