import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

export type Deployed = {
  deployment_id: string
  /** The address of the deployment in the API. */
  path: string
  /** The address of its inference, with `/v1`. */
  inference: string
  token: string
  token_id: string
  /** All of them ready, in the order of their engines; the first one is promoted. */
  revisions: string[]
}

type Revision = { revision_id: string; state: string }

/** Deploys engines that run elsewhere, a revision each, as people do: through the API. */
export async function deployed(
  forge: Forge,
  name: string,
  engines: readonly string[],
): Promise<Deployed> {
  const [first, ...others] = engines.map(url => ({ kind: 'external', url }))
  const made = await created<{ deployment_id: string }>(forge, '/api/deployments', {
    ...{ name, project: 'serving', source: first },
    limits: { max_concurrency: 1000 },
  })
  const { deployment_id } = made
  const path = `/api/deployments/${deployment_id}`
  const promoted = await until('the first revision is promoted', 30_000, async () => {
    const { body } = await forge.call<{ promoted_revision_id: string | null }>('GET', path)
    return body.promoted_revision_id
  })
  const revisions = [promoted]
  for (const source of others) {
    const body = { source }
    const { revision_id } = await created<Revision>(forge, `${path}/revisions`, body)
    await until('another revision is ready', 30_000, async () => {
      const { body } = await forge.call<Revision>('GET', `${path}/revisions/${revision_id}`)
      return body.state === 'ready'
    })
    revisions.push(revision_id)
  }
  const body = { name: 'a' }
  const token = await created<{ token: string; token_id: string }>(forge, `${path}/tokens`, body)
  const { pathname } = new URL((await forge.call<{ base_url: string }>('GET', path)).body.base_url)
  return { deployment_id, path, inference: pathname, revisions, ...token }
}

async function created<T>(forge: Forge, path: string, body: object): Promise<T> {
  const reply = await forge.call<T>('POST', path, { body })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body
}
