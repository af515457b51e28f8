import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { normalHost } from '../../../clients/cli/login/contexts.ts'
import { isInference } from '../../../gateway/path.ts'
import { ownSegments } from '../../../schemas/own-paths.ts'
import { sampleServer } from '../../samples/server.ts'

const src = join(import.meta.dirname, '../../../clients/python/src')

test('the first segments of all routes, of the console’s pages too, are listed as paths of Forge', async t => {
  const { routes } = await sampleServer(t)
  const served = routes.map(({ path }) => path.split('/')[1] ?? '').filter(name => name !== '')
  t.true(isInference('/inference/dep_1/v1'), 'the gateway has no route')
  t.deepEqual([...ownSegments].sort(), [...new Set([...served, 'inference'])].sort())
})

test('the Python client knows the same paths, and finds the same server in an address', async t => {
  const pages = ownSegments.flatMap(name => [`/${name}`, `/${name}/`, `/${name}/models?x=/api#y`])
  const bases = ['localhost:8080', 'a.example', 'http://a.example/forge', 'a.example/ml/runs-2/']
  const addresses = bases.flatMap(base => [base, ...pages.map(page => base + page)])
  const program = `
import json, sys
from forge import sign_in
hosts = [sign_in.normal_host(text) for text in json.loads(sys.argv[1])]
print(json.dumps([sorted(sign_in._OWN_SEGMENTS), hosts]))`
  const { stdout } = await promisify(execFile)(
    'python3',
    ['-c', program, JSON.stringify(addresses)],
    { env: { ...process.env, PYTHONPATH: src, PYTHONDONTWRITEBYTECODE: '1' } },
  )
  t.deepEqual(JSON.parse(stdout), [[...ownSegments].sort(), addresses.map(normalHost)])
})
