import test from 'ava'
import OpenAI from 'openai'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import {
  answersClients,
  answersPython,
  endsAbortedAnswers,
  refusesInItsWords,
} from '../serving/openai-clients.ts'
import { logOf } from '../serving/replicas.ts'

type Deployment = {
  state: string
  state_reason: string | null
  base_url: string
  cost_24h: string | null
}
type Revision = { revision_id: string; state: string; state_reason: string | null; load_s: number }
type Artifact = { artifact_id: string; kind: string }

/** Trains the tiny language model briefly; returns its run. */
async function trained(forge: Forge): Promise<string> {
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny-lm/1.0.0/lock')
  const params = { steps: 100, hidden: 32, eval_every: 100, checkpoint_every: 100, samples: 1 }
  const { body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      ...{ api: 'forge/v2', metadata: { name: 'trains', project: 'demo' }, lock },
      spec: { params },
    },
  })
  await until('it left a checkpoint', 200_000, async () => {
    const path = `/api/jobs/${body.run_id}/artifacts`
    const { body: artifacts } = await forge.call<Artifact[]>('GET', path)
    return artifacts.some(({ kind }) => kind === 'checkpoint')
  })
  return body.run_id
}

const untilIt = (forge: Forge, path: string, state: string) =>
  until(`the deployment is ${state}`, 200_000, async () => {
    const { body } = await forge.call<Deployment>('GET', path)
    if (body.state === 'failed') throw new Error(JSON.stringify(body))
    return body.state === state && body
  })

/** The runs of the engines that Forge runs now. */
async function servingJobs(forge: Forge): Promise<string[]> {
  const { rows } = await forge.pool.query<{ run_id: string }>(
    "select run_id from write.job_state where serving is not null and state not in ('stopped', 'succeeded', 'failed')",
  )
  return rows.map(({ run_id }) => run_id)
}

test("a run's checkpoint is served by an engine of Forge, suspended, resumed and deleted", async t => {
  t.timeout(patient(500_000))
  const forge = await startForge(t, { SERVICE_LOCAL_GPUS: '1' })
  const run_id = await trained(forge)
  const serving = { template: 'tiny-lm', served_names: ['bard', 'default'] }
  const made = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name: 'bard', source: { kind: 'run', run_id }, serving },
  })
  t.is(made.status, 200, JSON.stringify(made.body))
  const path = `/api/deployments/${made.body.deployment_id}`
  const { base_url, cost_24h } = await untilIt(forge, path, 'ready')
  t.is(cost_24h, '0.00', 'its engine needs no GPU')
  const { rows: routes } = await forge.pool.query(
    "select r.base_url = 'unix:' || write.runs_directory_of(j.engine) || '/' || run_id || '/engine/engine.sock' as is_socket from write.replica r join write.job_state j using (run_id)",
  )
  t.deepEqual(routes, [{ is_socket: true }], 'requests go to its socket')
  const { body: token } = await forge.call<{ token: string }>('POST', `${path}/tokens`, {
    body: { name: 'a' },
  })
  const chat = async () => {
    const response = await fetch(`${forge.url}${new URL(base_url).pathname}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'bard', max_tokens: 8 },
        messages: [{ role: 'user', content: 'Shall I' }],
      }),
    })
    return { status: response.status, text: await response.text() }
  }
  const first = await chat()
  t.is(first.status, 200, first.text)
  t.is(JSON.parse(first.text).usage.completion_tokens, 8)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  await until('its log is there', 30_000, async () =>
    /^serves /m.test((await run(['deploy', 'logs', 'bard'])).stdout),
  )
  const { body: revisions } = await forge.call<Revision[]>('GET', `${path}/revisions`)
  t.like(revisions, [{ state: 'ready', state_reason: null }])

  const baseURL = `${forge.url}${new URL(base_url).pathname}`
  const client = new OpenAI({ baseURL, apiKey: token.token, maxRetries: 0 })
  await answersClients(t, client)
  await refusesInItsWords(t, client)
  const [replica] = await servingJobs(forge)
  await endsAbortedAnswers(t, client, () => logOf(forge, replica ?? ''))
  await answersPython(t, forge, baseURL, token.token)
  const stranger = new OpenAI({ baseURL, apiKey: 'fdt_none', maxRetries: 0 })
  await t.throwsAsync(stranger.models.list().then(), { instanceOf: OpenAI.AuthenticationError })

  await forge.call('POST', `${path}/suspend`)
  t.is((await chat()).status, 503)
  await untilIt(forge, path, 'suspended')
  t.deepEqual(await servingJobs(forge), [], 'no engine runs while it is suspended')
  await forge.call('POST', `${path}/resume`)
  await untilIt(forge, path, 'ready')
  t.is((await chat()).status, 200)

  const { body: second } = await forge.call<{ revision_id: string }>('POST', `${path}/revisions`, {
    body: { source: { kind: 'run', run_id }, serving: { ...serving, args: ['--no-such-option'] } },
  })
  const failed = await until('the second one failed', 200_000, async () => {
    const { body } = await forge.call<Revision>('GET', `${path}/revisions/${second.revision_id}`)
    return body.state === 'failed' && body
  })
  t.regex(String(failed.state_reason), /its engine ended .*no-such-option.*forge logs run_/s)
  t.is((await chat()).status, 200, 'the promoted one keeps serving')

  await forge.call('DELETE', path)
  t.is((await chat()).status, 404)
  await until('it is gone', 60_000, async () => (await forge.call('GET', path)).status === 404)
})
