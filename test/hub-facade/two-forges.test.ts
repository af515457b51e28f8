import { commit, createRepo, downloadFile, listFiles, uploadFiles } from '@huggingface/hub'
import test from 'ava'
import { push, textRows, untilValidated } from '../datasets/pushing.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'

const roles = 'command-api,relay,projector,query-api'
const [theFirst, theSecond] = [
  sharedForge({ SERVICE_ROLES: roles }),
  sharedForge({ SERVICE_ROLES: roles }),
]

const repo = 'datasets/admin/shared'

test('the npm client of the Hub carries a dataset from one Forge to another', async t => {
  t.timeout(patient(120_000))
  const [first, second] = [await theFirst(), await theSecond()]
  const contents = {
    'train.jsonl': textRows('a', 'b'),
    'test/large.jsonl': textRows('x'.repeat(600_000)),
  }
  await push(first, 'admin/shared', contents, { card: '# Shared\n' })
  await untilValidated(first, 'admin/shared')
  // The client demands tokens that begin as those of the Hub do.
  const at = ({ url, token }: { url: string; token: string }) => ({
    ...{ repo, hubUrl: `${url}/api/hub`, accessToken: `hf_${token}` },
  })
  const files: { path: string; content: Blob }[] = []
  for await (const { type, path } of listFiles({ ...at(first), recursive: true })) {
    if (type !== 'file') continue
    const content = await downloadFile({ ...at(first), path })
    files.push({ path, content: new Blob([(await content?.arrayBuffer()) ?? '']) })
  }
  t.deepEqual(
    files.map(({ path }) => path),
    ['README.md', 'test/large.jsonl', 'train.jsonl'],
  )
  t.like(await createRepo({ ...at(second), visibility: 'public' }), { id: 'admin/shared' })
  const made = await uploadFiles({ ...at(second), files, commitTitle: 'from the first' })
  t.regex(made?.commit.oid ?? '', /^[0-9a-f]{32}00000001$/)
  await untilValidated(second, 'admin/shared')
  const [here, there] = await Promise.all(
    [first, second].map(forge => forge.call('GET', '/api/datasets/admin/shared/versions/1')),
  )
  t.is(there?.body.digest, here?.body.digest)
  t.like((await second.call('GET', '/api/datasets/admin/shared')).body, {
    ...{ card: '# Shared\n', visibility: 'public', newest: { state: 'ready' } },
  })
  const changed = await commit({
    ...at(second),
    title: 'leave one out',
    parentCommit: made?.commit.oid ?? '',
    operations: [{ operation: 'delete', path: 'test/large.jsonl' }],
  })
  t.regex(changed?.commit.oid ?? '', /00000002$/)
  await untilValidated(second, 'admin/shared', 2)
  const { body } = await second.call<{ files: { name: string }[] }>(
    'GET',
    '/api/datasets/admin/shared/versions/2',
  )
  t.deepEqual(
    body.files.map(({ name }) => name),
    ['train.jsonl'],
  )
})
