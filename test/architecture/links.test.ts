import { posix } from 'node:path'
import test from 'ava'
import { paths, read } from './tree.ts'

type Link = { from: string; to: string; anchor: string | null }

const known = new Set(paths)
const isPage = (path: string) => path.endsWith('.md')
const pages = new Map(paths.filter(isPage).map(path => [path, proseOf(read(path))]))
const anchors = new Map([...pages].map(([path, prose]) => [path, anchorsIn(prose)]))
const links = [...pages].flatMap(([path, prose]) => linksIn(path, prose))

test('every link of every page leads to a file, and to a heading that it has', t => {
  t.true(pages.size > 50)
  t.true(links.length > 300)
  t.true(links.filter(({ anchor }) => anchor !== null).length > 50)
  t.true(links.some(({ from }) => from === 'CHANGELOG.md'))
  t.deepEqual(links.filter(isDead).map(written), [])
})

test('every page of docs can be reached from docs/README.md', t => {
  const inDocs = [...pages.keys()].filter(path => path.startsWith('docs/'))
  t.true(inDocs.length > 50)
  const reached = reachedFrom('docs/README.md', links)
  t.deepEqual(
    inDocs.filter(path => !reached.has(path)),
    [],
  )
})

test('every page of docs mentioned in a comment, a message or a page exists', t => {
  const isText = (path: string) => /\.(tsx?|py|sql|sh|ya?ml|css|html|md)$/.test(path)
  // The examples of this file name pages that do not exist.
  const texts = paths.filter(path => isText(path) && path !== 'test/architecture/links.test.ts')
  const mentions = texts.flatMap(path => mentionsIn(read(path)).map(page => ({ path, page })))
  t.true(mentions.length > 100)
  for (const ending of ['.ts', '.sql', '.py', '.md'])
    t.true(
      mentions.some(({ path }) => path.endsWith(ending)),
      ending,
    )
  t.deepEqual(
    mentions.filter(({ page }) => !known.has(page)).map(({ path, page }) => `${path}: ${page}`),
    [],
  )
})

test('dead links, unreachable pages and wrong mentions are found', t => {
  const found = linksIn('docs/use/a.md', '[a](../README.md) [b](gone.md) [c](#no) [d](jobs.md#no)')
  t.deepEqual(found.filter(isDead).map(written), [
    'docs/use/a.md -> docs/use/gone.md',
    'docs/use/a.md -> docs/use/a.md#no',
    'docs/use/a.md -> docs/use/jobs.md#no',
  ])
  const chain = linksIn('docs/README.md', '[a](use/jobs.md)')
  t.deepEqual([...reachedFrom('docs/README.md', chain)], ['docs/README.md', 'docs/use/jobs.md'])
  t.deepEqual(mentionsIn('// docs/gone.md and (docs/use/jobs.md)'), [
    'docs/gone.md',
    'docs/use/jobs.md',
  ])
  t.deepEqual([...anchorsIn("# One's `a.b`, W&B\n## x\n## x")], ['ones-ab-wb', 'x', 'x-1'])
  t.deepEqual(linksIn('a.md', proseOf('```\n[a](b.md)\n```\n`[c](d.md)` [e](https://f)')), [])
})

const written = ({ from, to, anchor }: Link) =>
  `${from} -> ${to}${anchor === null ? '' : `#${anchor}`}`

function isDead({ to, anchor }: Link): boolean {
  if (anchor !== null && isPage(to)) return !anchors.get(to)?.has(anchor)
  return !known.has(to) && !known.has(`${to}/`)
}

/** Without code samples, which hold no links. */
function proseOf(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, '')
}

function linksIn(from: string, prose: string): Link[] {
  return [...prose.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)[^)]*\)/g)].flatMap(
    ([, address = '']) => {
      if (/^[a-z]+:/.test(address)) return []
      const [path = '', anchor = null] = address.split('#')
      return [{ from, to: path === '' ? from : posix.join(from, '..', path), anchor }]
    },
  )
}

/** The anchors of headings, as GitHub makes them; repeated ones are numbered. */
function anchorsIn(prose: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const names = [...prose.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
    const name = heading
      .replace(/\]\([^)]*\)/g, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before === 0 ? name : `${name}-${before}`
  })
  return new Set(names)
}

/** The pages of docs reachable from `start` without leaving docs. */
function reachedFrom(start: string, all: readonly Link[]): ReadonlySet<string> {
  const reached = new Set([start])
  // A set also visits elements added during its iteration.
  for (const page of reached)
    for (const { from, to } of all)
      if (from === page && isPage(to) && to.startsWith('docs/')) reached.add(to)
  return reached
}

function mentionsIn(text: string): string[] {
  return text.match(/\bdocs\/[\w./-]*\w\.md\b/g) ?? []
}
