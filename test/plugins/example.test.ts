import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { allowedHosts } from '../../platform/http/allowed-hosts.ts'
import { askWhole } from '../../platform/http/ask-whole.ts'
import { openOutgoing } from '../../platform/http/outgoing.ts'
import { newMessageSecret, signedHeaders } from '../../platform/http/signed-messages.ts'
import { makeCertificates } from '../servers/certificates.ts'

test('the example of the documentation checks signatures and refuses large jobs', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'example-'))
  const { caFile, certFile, keyFile } = await makeCertificates(folder)
  const secret = newMessageSecret()
  const program = spawn('python3', ['docs/examples/plugin.py', certFile, keyFile], {
    env: { ...process.env, FORGE_PLUGIN_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(program.stdout, 'data')
  const url = new URL(String(printed).trim())
  const ca = await readFile(caFile, 'utf8')
  const outgoing = openOutgoing({
    trusted: null,
    redirects: 0,
    ca,
    allowed: allowedHosts([url.host]),
  })
  t.teardown(async () => {
    program.kill('SIGKILL')
    await once(program, 'exit')
    await outgoing.close()
    await rm(folder, { recursive: true })
  })
  const send = async (type: string, gpus_per_node: number, by = secret) => {
    const data = { spec: { spec: { resources: { nodes: 1, gpus_per_node } } } }
    const body = JSON.stringify({ type, data })
    const headers = signedHeaders({ id: 'msg_1', at: new Date(), body }, [by])
    const bounds = { timeoutMs: 5000, maxBytes: 10_000 }
    const answer = await askWhole(outgoing, url, { method: 'POST', headers, body, ...bounds })
    return { status: answer.status, answer: JSON.parse(String(answer.body)) }
  }
  t.deepEqual(await send('admission.validate', 16), {
    ...{ status: 200, answer: { allow: false, reason: '16 GPUs; 8 are allowed' } },
  })
  t.like(await send('admission.validate', 8), { status: 200, answer: { allow: true } })
  t.like(await send('admission.mutate', 8), {
    ...{ status: 200, answer: { patch: { metadata: { labels: { 'seen-by': 'plugin.py' } } } } },
  })
  t.is((await send('admission.validate', 8, newMessageSecret())).status, 401)
})
