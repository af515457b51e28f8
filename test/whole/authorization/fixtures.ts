import type { Call, Send } from './send.ts'

/** Parameters of paths by the noun before them: of `/api/projects/{name}`, `projects` and `name`. */
export type Nouns = Record<string, Record<string, string>>
/** What a person has: what stands in paths, and in fields of these names in bodies and queries. */
export type Belongings = { nouns: Nouns; fields: Record<string, unknown> }

export type Person = { username: string; password: string; token: string; cookie: string }

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export async function signIn(send: Send, username: string, password: string): Promise<Person> {
  const answer = await send({ ...post('/api/auth/login'), body: { username, password } })
  const { token } = JSON.parse(answer.text)
  const cookie = String(answer.headers.getSetCookie()[0]).split(';')[0] ?? ''
  return { username, password, token, cookie }
}

export async function newPerson(send: Send, admin: Person, username: string): Promise<Person> {
  const made = await asked<{ password: string }>(send, admin, {
    ...post('/api/admin/users'),
    body: { username, role: 'operator' },
  })
  return signIn(send, username, made.password)
}

/** One of everything for a person, read back once; with it the tokens of their run: the live one, and one that ended. */
export async function giveOneOfEach(send: Send, owner: Person, friend: string) {
  const ask = <T>(call: Call) => asked<T>(send, owner, call)
  const project = `project-of-${owner.username}`
  const run = await ask<{ run_id: string; token: string }>({
    ...post('/api/runs'),
    body: { project },
  })
  const { token } = await ask<{ token: string }>(post(`/api/runs/${run.run_id}/token`))
  const lock = await ask({ method: 'GET', path: '/api/recipes/digits/1.0.0/lock' })
  const job = await ask<{ run_id: string }>({ ...post('/api/jobs'), body: heldJob(project, lock) })
  await ask({
    method: 'PUT',
    path: `/api/projects/${project}/members/${friend}`,
    body: { role: 'viewer' },
  })
  const rubric = { owner: owner.username, name: `rubric-of-${owner.username}` }
  await ask({
    method: 'PUT',
    path: `/api/rubrics/${rubric.owner}/${rubric.name}`,
    body: { name: rubric.name, criteria: [{ name: 'clear' }] },
  })
  const device = await ask<{ user_code: string }>(post('/api/cli/device/code'))
  // Reads as its owner wait until all of this can be read.
  for (const { run_id } of [run, job]) await ask({ method: 'GET', path: `/api/runs/${run_id}` })
  return {
    token,
    endedToken: run.token,
    belongings: {
      nouns: {
        ...common(owner.username),
        runs: { run_id: run.run_id },
        jobs: { run_id: job.run_id },
        projects: { name: project },
        members: { username: friend },
        rubrics: rubric,
        sessions: { sid: await spareSession(send, owner) },
        device: { user_code: device.user_code },
      },
      fields: {
        run_id: run.run_id,
        project,
        topics: `job:${job.run_id}`,
        target: `job:${job.run_id}`,
        username: friend,
        lock,
        api: 'forge/v2',
        spec: held,
        current: owner.password,
      },
    },
  }
}

/** What is everybody's, or only administrators'. */
const common = (username: string): Nouns => ({
  users: { username },
  quotas: { username },
  profiles: { name: 'of-all' },
  projections: { name: 'decisions' },
  recipes: { name: 'digits', version: '1.0.0' },
  assets: { file: 'run.js' },
})

/** The same shapes, but nobody has them; `whose` tells several such apart. */
export function noSuch({ nouns, fields }: Belongings, whose: 'nobody' | 'somebody'): Belongings {
  const runId = nobodys(String(fields.run_id))
  return {
    nouns: {
      ...nouns,
      runs: { run_id: runId },
      jobs: { run_id: runId },
      projects: { name: `project-of-${whose}` },
      rubrics: { owner: String(nouns.rubrics?.owner), name: `rubric-of-${whose}` },
      sessions: { sid: nobodys(String(nouns.sessions?.sid)) },
      device: { user_code: 'BBBB-BBBB' },
      users: { username: whose },
      quotas: { username: whose },
      profiles: { name: `profile-of-${whose}` },
      projections: { name: `projection-of-${whose}` },
      recipes: { name: `recipe-of-${whose}`, version: '1.0.0' },
      assets: { file: 'nothing.js' },
    },
    fields: {
      ...fields,
      run_id: runId,
      project: `project-of-${whose}`,
      topics: `job:${runId}`,
      target: `job:${runId}`,
    },
  }
}

const nobodys = (id: string) => id.slice(0, -6) + '0'.repeat(6)

const post = (path: string) => ({ method: 'POST', path })

const heldJob = (project: string, lock: unknown) => ({
  api: 'forge/v2',
  metadata: { name: 'held', project },
  lock,
  spec: held,
})

const held = {
  resources: { profile: 'spare' },
  scheduling: { not_before: '2099-01-01T00:00:00+00:00' },
}

async function spareSession(send: Send, { username, password }: Person): Promise<string> {
  const spare = await signIn(send, username, password)
  const sessions = await asked<{ sid: string; current: boolean }[]>(send, spare, {
    method: 'GET',
    path: '/api/auth/sessions',
  })
  return String(sessions.find(({ current }) => current)?.sid)
}

async function asked<T>(send: Send, { token }: Person, call: Call): Promise<T> {
  const { status, text } = await send({ ...call, headers: bearer(token) })
  if (status !== 200) throw new Error(`${call.method} ${call.path} answered ${status} ${text}`)
  return JSON.parse(text)
}
