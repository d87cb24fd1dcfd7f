// k6 as a load generator of this protocol: one virtual user for each connection; the first SENDERS
// of them send in a closed loop, each its next request when its own answer has come.
import { WebSocket } from 'k6/websockets';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';

const { URL, WORKLOAD } = __ENV;
const [CLIENTS, SENDERS, COUNT, PADDING] = ['CLIENTS', 'SENDERS', 'COUNT', 'PADDING'].map((name) =>
  Number(__ENV[name]),
);
const BROADCAST = WORKLOAD === 'broadcast';
const START_MS = 15000; // all connections are open by then
const ECHO_MS = 25000; // and all echoes done within so much more
const EACH = COUNT / SENDERS;
const REQUEST = JSON.stringify({
  type: WORKLOAD,
  payload: { stamp: '0000000000000000', padding: '1234567890'.repeat(PADDING / 10) },
});

const received = new Counter('received');
const wanted = BROADCAST ? CLIENTS * COUNT : COUNT;

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: CLIENTS, iterations: 1 } },
  // A wrong count is a run that measured something else: k6 then ends with 99.
  thresholds: { received: [`count==${wanted}`] },
};

export default function () {
  const sends = exec.vu.idInTest <= SENDERS;
  const answer = BROADCAST ? 'broadcastResult' : 'echo';
  let delivered = 0;
  let answered = 0;
  const socket = new WebSocket(URL);
  const closeWhenDone = () => {
    if (delivered === COUNT && (!sends || answered === EACH)) socket.close();
  };
  socket.onopen = () => {
    if (sends) setTimeout(() => socket.send(REQUEST), START_MS);
    if (!BROADCAST) setTimeout(() => socket.close(), START_MS + ECHO_MS);
  };
  socket.onmessage = (event) => {
    const { type } = JSON.parse(event.data);
    if (type === WORKLOAD) {
      delivered += 1;
      received.add(1);
    }
    if (type === answer) {
      answered += 1;
      if (answered < EACH) socket.send(REQUEST);
    }
    if (BROADCAST) closeWhenDone();
  };
}
