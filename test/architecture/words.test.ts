import test from 'ava'
import { type Source, sourceOf, sources } from './sources.ts'

/** The words of Forge's domain, which a copy of platform/ in another service must not contain. */
const domainWords = new Set(
  `admin admission artifact audit credential decision device executor experiment fact gate gpu hparam
   ingest job maintenance oidc operator person people profile project projection projector quota recipe rubric
   run session submission submit trainer training username`
    .split(/\s+/)
    .flatMap(word => [word, `${word}s`]),
)

/** Words with another meaning in these files. */
const elsewhere: [files: RegExp, words: string, meaning: string][] = [
  [/^platform\/log\/kafka[\w-]*\.ts$/, 'admin', "kafkajs's client for topics"],
  [/^platform\/log\/kafka-security\.ts$/, 'username', 'at a broker'],
  [/^platform\/series\/merge\.ts$/, 'run runs', 'ascending stretches, as in a merge sort'],
  [/^platform\/postgres\//, 'run runs session project', 'programs; what Postgres calls a session'],
  [/^platform\/http\/outgoing\.ts$/, 'username', 'in an address'],
  [/^platform\/objects\/s3-bucket\.ts$/, 'credentials', "of Amazon's client"],
  [/^platform\/postgres\/cluster\.ts$/, 'username', 'of the database'],
]

const wordsIn = (text: string): string[] =>
  (text.match(/[A-Za-z]+/g) ?? []).flatMap(part =>
    part.split(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map(word => word.toLowerCase()),
  )

function domainWordsOf({ file, code }: Source): string[] {
  const excused = new Set(
    elsewhere.filter(([files]) => files.test(file)).flatMap(([, words]) => words.split(' ')),
  )
  const found = wordsIn(`${file} ${code}`).filter(
    word => domainWords.has(word) && !excused.has(word),
  )
  return [...new Set(found)].map(word => `${file}: ${word}`)
}

test('platform/ contains no domain word, not even in file names', t => {
  const platform = sources.filter(({ file }) => file.startsWith('platform/'))
  t.true(platform.length > 40)
  t.deepEqual(platform.flatMap(domainWordsOf), [])
})

test('domain words are found in identifiers, strings and file names, but not in comments', t => {
  const found = (file: string, code: string) => domainWordsOf(sourceOf(file, code))
  t.deepEqual(found('platform/a.ts', 'const ingestTokenOf = 1'), ['platform/a.ts: ingest'])
  t.deepEqual(found('platform/a.ts', 'type RunCaller = 1'), ['platform/a.ts: run'])
  t.deepEqual(found('platform/a.ts', 'const URLOfGPUs = run_id'), ['platform/a.ts: run'])
  t.deepEqual(found('platform/a.ts', "query('select * from quotas')"), ['platform/a.ts: quotas'])
  t.deepEqual(found('platform/job-queue.ts', ''), ['platform/job-queue.ts: job'])
  t.deepEqual(found('platform/a.ts', '// what a run reports\nconst running = 1'), [])
})

test('every exception is still needed', t => {
  const unused = elsewhere.filter(
    ([files, words]) =>
      !sources.some(
        ({ file, code }) =>
          files.test(file) && wordsIn(code).some(word => words.split(' ').includes(word)),
      ),
  )
  t.deepEqual(
    unused.map(([files]) => String(files)),
    [],
  )
})
