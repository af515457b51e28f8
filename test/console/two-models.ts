import { serveEngine } from '../servers/engine.ts'
import type { Forge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Made = { deployment_id: string }
type Revision = { revision_id: string; number: number; state: string; promoted: boolean }

const chunk = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

/** An engine that names itself in each reply, as a stream where that is asked for. It fails when a prompt says "please fail". */
const engineOf = (name: string) => (asked: string) =>
  asked.includes('"stream":true')
    ? {
        type: 'text/event-stream',
        text: `${chunk('I am ')}${chunk(name)}data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } })}\n\ndata: [DONE]\n\n`,
      }
    : {
        type: 'application/json',
        text: JSON.stringify({
          data: [{ id: 'default' }],
          choices: [{ index: 0, message: { content: `I am ${name}` } }],
          usage: { prompt_tokens: 3, completion_tokens: 2 },
        }),
      }

export const serveNamed = (
  t: Parameters<typeof serveEngine>[0],
  name: string,
  prompts: string[] = [],
) =>
  serveEngine(t, (request, response) => {
    let asked = ''
    request.on('data', part => {
      asked += part
    })
    request.on('end', () => {
      prompts.push(asked)
      const { type, text } = engineOf(name)(asked)
      response
        .writeHead(asked.includes('please fail') ? 500 : 200, { 'content-type': type })
        .end(text)
    })
  })

/** A deployment with two revisions that respond, the first of them promoted. */
export async function deployTwo(forge: Forge, urls: readonly [string, string]): Promise<string> {
  await createRun(forge)
  const [first, second] = urls
  const { body } = await forge.call<Made>('POST', '/api/deployments', {
    body: { name: 'tutor', project: 'demo', source: { kind: 'external', url: first } },
  })
  const path = `/api/deployments/${body.deployment_id}`
  await forge.call('POST', `${path}/revisions`, {
    body: {
      source: { kind: 'external', url: second },
      serving: { served_names: ['tutor', 'default'] },
    },
  })
  await until('both revisions respond', 60_000, async () => {
    const found = await forge.call<Revision[]>('GET', `${path}/revisions`)
    return found.status === 200 && found.body.filter(({ state }) => state === 'ready').length === 2
  })
  return body.deployment_id
}

/** Asks the promoted model of a deployment who it is, with one of its tokens. */
export const askWho = (forge: Forge, id: string, token: string | null) =>
  fetch(`${forge.url}/inference/${id}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"model":"default","messages":[{"role":"user","content":"who?"}]}',
  })
