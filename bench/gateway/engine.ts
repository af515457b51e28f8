import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The smallest possible engine: the same completion for everybody, or an endless stream. */
const completion = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
const piece = `data: ${JSON.stringify({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: null }],
})}\n\n`
const everyMs = 250

const server = createServer((req, res) => {
  let body = ''
  req.on('data', chunk => {
    body += chunk
  })
  req.on('end', () => {
    if (!body.includes('"stream":true')) {
      res.setHeader('content-type', 'application/json')
      res.setHeader('content-length', Buffer.byteLength(completion))
      res.end(completion)
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(piece)
    const more = setInterval(() => res.write(piece), everyMs)
    res.once('close', () => clearInterval(more))
  })
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
