import test from 'ava'
import { outOfResources } from '../../platform/no-room.ts'

const failure = (code: string) => Object.assign(new Error(code), { code })

const known: [code: string, refusal: string][] = [
  ['53100', 'disk.full'],
  ['ENOSPC', 'disk.full'],
  ['EDQUOT', 'disk.full'],
  ['EMFILE', 'files.exhausted'],
  ['ENFILE', 'files.exhausted'],
]

for (const [code, refusal] of known)
  test(`${code} is a refusal that says when to try again, however deep it lies`, t => {
    const wrapped = new Error('outer', { cause: new Error('inner', { cause: failure(code) }) })
    for (const error of [failure(code), wrapped]) {
      const found = outOfResources(error)
      t.is(found?.extras.code, refusal)
      t.true((found?.extras.retryAfterSeconds ?? 0) > 0)
    }
  })

test('other failures are no lack of resources, nor is a circle of causes', t => {
  t.is(outOfResources(failure('EACCES')), null)
  t.is(outOfResources('ENOSPC'), null)
  const circle = new Error('a')
  circle.cause = circle
  t.is(outOfResources(circle), null)
})
