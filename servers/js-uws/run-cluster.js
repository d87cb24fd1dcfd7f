// Several threads: node run-cluster.js [uws] [--host HOST] [--port PORT]
// [--threads N]. The main thread accepts connections and deals them out to the
// workers in turn, the way of the library's WorkerThreads example; it holds no
// WebSocket of its own and sees no message.

import { isMainThread, MessageChannel, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { App } from 'uws-pack';
import { parse } from './options.js';
import { listen } from './server.js';
import { runWorker } from './worker.js';

if (isMainThread) runMain(parse(process.argv.slice(2), 'run-cluster.js', { cluster: true }));
else runWorker();

function runMain(options) {
  const acceptor = App();
  const workers = [];
  let ready = 0;

  for (let i = 0; i < options.workers; i += 1) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: options });
    worker.on('message', (descriptor) => {
      acceptor.addChildAppDescriptor(descriptor);
      ready += 1;
      // Together, so that the first connections are shared out evenly.
      if (ready === options.workers) listen(acceptor, options);
    });
    // With a worker missing, the figures would be those of another server.
    worker.on('error', (error) => stop(error.message));
    worker.on('exit', (code) => stop(`code ${code}`));
    workers.push(worker);
  }

  for (const [i, one] of workers.entries()) {
    for (const other of workers.slice(i + 1)) {
      const { port1, port2 } = new MessageChannel();
      one.postMessage({ peer: port1 }, [port1]);
      other.postMessage({ peer: port2 }, [port2]);
    }
  }
  for (const worker of workers) worker.postMessage({ start: true });
}

function stop(reason) {
  console.error(`js-uws: a worker ended (${reason}); stopping the others`);
  process.exit(1);
}
