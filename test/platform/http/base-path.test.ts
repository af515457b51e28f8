import test from 'ava'
import { basePathOf, belowBasePath } from '../../../platform/http/base-path.ts'

test('the base path is that of the public address', t => {
  t.is(basePathOf('https://a.example'), '')
  t.is(basePathOf('https://a.example/'), '')
  t.is(basePathOf('https://a.example/ml/forge'), '/ml/forge')
})

test('it is removed from requests once, and only where it is a whole path', t => {
  const below = (target: string) => belowBasePath(target, '/forge')
  t.is(below('/forge/api/version?x=/forge'), '/api/version?x=/forge')
  t.is(below('/forge'), '/')
  t.is(below('/forge/'), '/')
  t.is(below('/forge?to=1'), '/?to=1')
  t.is(below('/forge/forge/runs'), '/forge/runs')
  t.is(below('/forgery'), '/forgery')
  t.is(below('/healthz'), '/healthz', 'a probe asks the server itself')
  t.is(below('*'), '*')
  t.is(belowBasePath('/runs', ''), '/runs')
})
