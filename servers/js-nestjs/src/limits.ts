import { WebSocket } from 'ws';

const MIB = 1024 * 1024;

// docs/protocol.md, "Limits".
const MAX_QUEUED = 64 * MIB;

/** Options of ws, which the gateways hand to it. */
export const limits = {
  maxPayload: 16 * MIB,
  // Each fragment is kept as a Buffer until its message is whole. The 16,384 of ws
  // would refuse 4 MiB in fragments of 64 bytes, which Autobahn|Testsuite sends.
  maxFragments: 128 * 1024
};

/** Ends a client for which too much waits. */
export function send(client: WebSocket, data: Buffer, binary: boolean) {
  if (client.readyState !== WebSocket.OPEN) return;
  const queued = client.bufferedAmount;
  if (queued > 0 && queued + data.length > MAX_QUEUED) client.terminate();
  else client.send(data, { binary });
}
