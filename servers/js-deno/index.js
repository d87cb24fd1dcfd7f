// deno run --allow-net index.js [--host HOST] [--port PORT]

import { parse } from './options.js';
import { listen } from './server.js';

listen(parse(Deno.args));
