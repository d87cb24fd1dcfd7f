// One thread: node index.js [--host HOST] [--port PORT]

import { parse } from './options.js';
import { create, listen } from './server.js';

const options = parse(process.argv.slice(2), 'index.js');
const { app, deliver } = create(options, (topic, data, binary, done) => {
  deliver(topic, data, binary);
  done();
});
listen(app, options);
