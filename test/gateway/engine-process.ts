import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An engine in a separate process, to be killed: responds in pieces, a little later each time. */
const [port = '0'] = process.argv.slice(2)
const answer = JSON.stringify({
  ...{ data: [{ id: 'default' }], choices: [{ index: 0, message: { content: 'ok' } }] },
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
})
let asked = 0
const server = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.write(answer.slice(0, 20))
    asked += 1
    setTimeout(() => res.end(answer.slice(20)), asked % 40)
  })
})
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
