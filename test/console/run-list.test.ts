import test from 'ava'
import { placesOf } from '../../clients/console/src/design/row-places.ts'
import {
  firstOf,
  newest,
  rangeOf,
  toggled,
  withAll,
} from '../../clients/console/src/pages/runs/choice.ts'
import { chunksFor, countOf } from '../../clients/console/src/pages/runs/chunks.ts'
import {
  columnsOf,
  hparamOf,
  isSortable,
  metricOf,
  namesOfColumns,
  nextSort,
  textOfColumns,
  usualColumns,
} from '../../clients/console/src/pages/runs/columns.ts'
import {
  askedBy,
  completed,
  completionsOf,
  wordAt,
} from '../../clients/console/src/pages/runs/complete.ts'
import {
  allChunks,
  chunksOfLines,
  countLines,
  lineAt,
} from '../../clients/console/src/pages/runs/lines.ts'
import { afterChange, rowsAfter } from '../../clients/console/src/pages/runs/live-state.ts'
import { viewOf, viewsIn, withView } from '../../clients/console/src/pages/runs/saved-views.ts'
import { tableKeyOf } from '../../clients/console/src/pages/runs/table-keys.ts'
import type { RunRow } from '../../schemas/runs/records.ts'

test('the rows in view are requested, with a chunk on each side', t => {
  t.deepEqual(chunksFor(0, 40, 1_000), [0, 1])
  t.deepEqual(chunksFor(250, 420, 1_000), [1, 2, 3, 4, 5])
  t.deepEqual(chunksFor(950, 999, 1_000), [8, 9])
  t.deepEqual(chunksFor(0, 0, 0), [0])
  t.is(countOf(130, new Map()), 130)
  t.is(countOf(null, new Map([[0, 100]])), 10_001)
  const sizes = (last: [number, number]) => new Map([[0, 100], last])
  t.is(countOf(null, sizes([150, 100])), 15_200)
  t.is(countOf(null, sizes([150, 30])), 15_030)
  t.is(countOf(null, sizes([999, 100])), 100_100, 'the list continues past 100,000 rows')
  t.is(countOf(null, sizes([3_999, 100])), 400_000)
})

test('groups have a heading line, and their runs unless they are collapsed', t => {
  const speech = { project: 'speech', rows: 250, isOpen: true }
  const text = { project: 'text', rows: 7, isOpen: false }
  const vision = { project: 'vision', rows: 2, isOpen: true }
  const groups = [speech, text, vision]
  t.is(countLines(groups), 1 + 250 + 1 + 1 + 2)
  t.deepEqual(lineAt(groups, 0), { kind: 'group', group: speech })
  t.deepEqual(lineAt(groups, 250), { kind: 'run', project: 'speech', nth: 249 })
  t.deepEqual(lineAt(groups, 251), { kind: 'group', group: text })
  t.deepEqual(lineAt(groups, 252), { kind: 'group', group: vision })
  t.deepEqual(lineAt(groups, 254), { kind: 'run', project: 'vision', nth: 1 })
  t.is(lineAt(groups, 255), null)
  t.deepEqual(chunksOfLines(groups, 0, 20), [
    { project: 'speech', chunk: 0 },
    { project: 'speech', chunk: 1 },
  ])
  t.deepEqual(chunksOfLines(groups, 245, 255), [
    { project: 'speech', chunk: 1 },
    { project: 'speech', chunk: 2 },
    { project: 'vision', chunk: 0 },
  ])
  t.is(allChunks(groups).length, 4)
  const all = [{ project: null, rows: 3, isOpen: true }]
  t.is(countLines(all), 3)
  t.deepEqual(lineAt(all, 0), { kind: 'run', project: null, nth: 0 })
})

test('columns, orders and views live in addresses, and damaged ones are harmless', t => {
  t.deepEqual(columnsOf(undefined), [...usualColumns])
  t.deepEqual(columnsOf(''), [], 'nobody asked for a column')
  t.is(textOfColumns([]), '')
  t.deepEqual(columnsOf('name,nonsense,metric:a:b:last,metric:x:mode'), ['name', 'metric:a:b:last'])
  t.deepEqual(
    usualColumns.filter(column => !isSortable(column)),
    ['best'],
    'the server sorts by no other',
  )
  t.deepEqual(metricOf('metric:a:b:min'), { key: 'a:b', of: 'min' })
  t.is(hparamOf('hparam:opt:name'), 'opt:name')
  t.is(textOfColumns(usualColumns), undefined)
  const odd = ['name', 'metric:a,b\\c:last', 'hparam:x,y', 'hparam:lr', 'metric:loss:min']
  t.deepEqual(columnsOf(textOfColumns(odd)), odd)
  t.deepEqual(namesOfColumns([...odd, 'metric:loss:max']), {
    metrics: 'a\\,b\\\\c,loss',
    hparams: 'x\\,y,lr',
  })
  t.deepEqual(namesOfColumns(['name']), { metrics: undefined, hparams: undefined })
  t.deepEqual(
    ['-x', 'x', ''].map(now => nextSort('x', now)),
    ['x', '-x', '-x'],
  )
  t.deepEqual(viewsIn('{"not": "a list"}'), [])
  t.deepEqual(viewsIn('nonsense'), [])
  const nothing = viewOf({})
  t.deepEqual(viewsIn('[{"name": "mine", "q": 7}, {"q": "x"}]'), [{ name: 'mine', ...nothing }])
  const view = { ...nothing, name: 'a', q: 'x' }
  t.deepEqual(viewsIn('[{"name": "old", "archived": "true"}]'), [
    { ...nothing, name: 'old', archived: 'true' },
  ])
  t.deepEqual(withView([view], { ...view, q: 'y' }), [{ ...view, q: 'y' }])
})

test("a search is completed at the cursor, from the server's names", t => {
  const known = { projects: ['vision', 'speech'], names: [] }
  t.deepEqual(wordAt('a (sta', 6), { word: 'sta', from: 3 })
  t.deepEqual(completionsOf('sta', known), ['state:', 'starred:', 'started>'])
  t.deepEqual(completionsOf('state:f', known), ['state:failed'])
  t.deepEqual(completionsOf('project:', known), ['project:vision', 'project:speech'])
  t.deepEqual(completionsOf('', known), [])
  t.deepEqual(askedBy('owner:a'), { of: 'owners', contains: 'a' })
  t.deepEqual(askedBy('tag:'), { of: 'tags', contains: '' })
  t.deepEqual(askedBy('hparams.l'), { of: 'hparams', contains: 'l' })
  t.deepEqual(askedBy('label.te'), { of: 'labels', contains: 'te' })
  t.deepEqual(askedBy('loss'), { of: 'metrics', contains: 'loss' })
  t.deepEqual(['l', '', 'state:f', 'loss<'].map(askedBy), [null, null, null, null])
  const names = (...found: string[]) => ({ projects: [], names: found })
  t.deepEqual(completionsOf('owner:a', names('ada', 'the boss')), ['owner:ada', 'owner:"the boss"'])
  t.deepEqual(completionsOf('loss', names('loss', 'train/loss')), ['train/loss'])
  t.deepEqual(completionsOf('hparams.l', names('lr')), ['hparams.lr'])
  t.deepEqual(completed('a sta b', 5, 'state:'), { text: 'a state: b', cursor: 8 })
  t.deepEqual(completed('state:f', 7, 'state:failed'), { text: 'state:failed ', cursor: 13 })
})

const run = (run_id: string, more: Partial<RunRow> = {}) =>
  ({
    ...{ run_id, state: 'running', job_state: null, started_at: null, ended_at: null },
    ...more,
  }) as RunRow

test('runs are selected one by one, in ranges and all at once, and actions use their current state', t => {
  const [a, b, c] = [run('a'), run('b'), run('c')]
  const ids = (chosen: ReadonlyMap<string, RunRow>) => [...chosen.keys()]
  const one = toggled(new Map(), a)
  t.deepEqual(ids(one), ['a'])
  t.deepEqual(ids(toggled(one, a)), [])
  t.deepEqual(rangeOf(4, 2), [2, 3, 4])
  t.deepEqual(rangeOf(2, 2), [2])
  const all = withAll(one, [a, b, c], true)
  t.deepEqual(ids(all), ['a', 'b', 'c'])
  t.deepEqual(ids(withAll(all, [b, c], false)), ['a'])
  const now = newest(all, () => [run('b', { state: 'failed' })])
  t.deepEqual(
    [...now.values()].map(({ state }) => state),
    ['running', 'failed', 'running'],
  )
})

test('a question lists the first affected runs, and how many more there are', t => {
  t.deepEqual(firstOf(['a', 'b']), { first: ['a', 'b'], more: 0 })
  t.deepEqual(firstOf(['a', 'b', 'c'], 2), { first: ['a', 'b'], more: 1 })
  t.is(firstOf(Array.from({ length: 50 })).first.length, 20)
})

test('a change of state shows in its row at once', t => {
  const at = '2026-11-01T00:01:40+00:00'
  const started_at = '2026-11-01T00:00:00+00:00'
  const rows = [run('a', { started_at }), run('b')]
  const failed = (run_id: string) =>
    rowsAfter(rows, row => afterChange(row, { run_id, state: 'failed', at }))
  t.like(failed('a')[0], {
    state: 'failed',
    ended_at: at,
    duration_s: 100,
  })
  t.is(failed('c'), rows)
  const after = (row: RunRow, state: string) => afterChange(row, { run_id: 'a', state, at })
  t.is(after(run('a'), 'stopping').state, 'running', 'a job that stops is still running')
  t.like(after(run('a', { state: 'pending' }), 'running'), { state: 'running', started_at: at })
  t.like(after(run('a', { state: 'failed', ended_at: at }), 'queued'), {
    state: 'pending',
    ended_at: null,
  })
  const job = run('a', { state: 'pending', job_exists: true, job_state: 'queued' })
  t.like(after(job, 'starting'), { state: 'pending', job_state: 'starting' })
  t.is(after(job, 'queued'), job)
})

test('the keys of the table work unless somebody is typing', t => {
  const press = (key: string, held = {}) => ({
    ...{ key, ctrlKey: false, metaKey: false, altKey: false },
    ...held,
  })
  t.is(tableKeyOf(press('j'), 'table'), 'down')
  t.is(tableKeyOf(press('x'), 'control'), 'choose')
  t.is(tableKeyOf(press('X'), 'control'), 'range')
  t.is(tableKeyOf(press('*'), 'table'), 'star')
  t.is(tableKeyOf(press('Enter'), 'table'), 'open')
  t.is(tableKeyOf(press('Enter'), 'control'), null, 'a button is pressed instead')
  t.is(tableKeyOf(press('j'), 'field'), null)
  t.is(tableKeyOf(press('j'), 'dialog'), null)
  t.is(tableKeyOf(press('k', { ctrlKey: true }), 'table'), null, 'the palette')
})

test('rows of a long list have their place, and so do measured ones', t => {
  const even = placesOf(100_000, 20, new Map())
  t.is(even.startOf(100_000), 2_000_000)
  t.deepEqual([0, 19, 20, 2_000_000].map(even.indexAt), [0, 0, 1, 99_999])
  const { startOf, heightOf, indexAt } = placesOf(
    10,
    20,
    new Map([
      [7, 20],
      [3, 60],
      [5, 40],
    ]),
  )
  t.deepEqual([0, 3, 4, 5, 6, 10].map(startOf), [0, 60, 120, 140, 180, 260])
  t.deepEqual([2, 3, 5].map(heightOf), [20, 60, 40])
  t.deepEqual([59, 60, 119, 120, 179, 180, 1000].map(indexAt), [2, 3, 3, 4, 5, 6, 9])
  t.is(placesOf(0, 20, new Map()).indexAt(0), 0)
})
