import { serveEngine } from '../servers/engine.ts'
import type { Scope } from '../servers/postgres.ts'

type Asked = {
  messages: { role: string; content: string }[]
  temperature: number
  response_format: { type: string; json_schema: { strict: boolean; schema: object } }
}

export type JudgeEngine = {
  url: string
  /** The requests for scores, with the response that was judged. */
  asked: (Asked & { response: string })[]
  /** How it responds to the nth request about a response: the content, or the status of a failure. */
  answer: (response: string, nth: number) => string | number
  /** While set, responses wait for it. */
  hold: Promise<void> | null
  /** The most requests that were under way at once. */
  most: number
}

const good = JSON.stringify({ reason: 'It is clear.', scores: { clear: 0.8 } })

/** A server that speaks the OpenAI protocol, and records the questions. */
export async function startJudge(t: Scope): Promise<JudgeEngine> {
  const engine: JudgeEngine = { url: '', asked: [], answer: () => good, hold: null, most: 0 }
  let underWay = 0
  engine.url = await serveEngine(t, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', piece => pieces.push(piece))
    request.on('end', async () => {
      const reply = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      }
      const body = pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString('utf8'))
      if (!body.response_format)
        return reply(200, { data: [{ id: 'default' }], choices: [{ index: 0 }] })
      const { response: judged } = JSON.parse(body.messages[1].content)
      engine.asked.push({ ...body, response: judged })
      const nth = engine.asked.filter(one => one.response === judged).length
      engine.most = Math.max(engine.most, ++underWay)
      await engine.hold
      underWay--
      const answer = engine.answer(judged, nth)
      if (typeof answer === 'number') return reply(answer, { error: { message: 'overloaded' } })
      reply(200, { choices: [{ index: 0, message: { role: 'assistant', content: answer } }] })
    })
  })
  return engine
}
