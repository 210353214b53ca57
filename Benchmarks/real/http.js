// A node HTTP server; /stall?ms=N blocks the loop in a child, /spin?ms=N by computing.
const { execSync } = require('child_process');
require('http').createServer((request, response) => {
  const ms = Number(new URL(request.url, 'http://x').searchParams.get('ms'));
  if (request.url.startsWith('/stall')) execSync(`sleep ${ms / 1000}`);
  if (request.url.startsWith('/spin')) { const end = Date.now() + ms; while (Date.now() < end); }
  response.end('hello\n');
}).listen(Number(process.argv[2]), '127.0.0.1');
