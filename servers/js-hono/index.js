// bun index.js [--host HOST] [--port PORT]

import { parse } from './options.js';
import { listen } from './server.js';

listen(parse(process.argv.slice(2)));
