import { type Replay, replay } from './queue/replay.ts'
import { number, toTable } from './rig/table.ts'

const jobs = 2000
const percent = (share: number) => `${number(share * 100, 1)} %`

const rows = [0.7, 0.85, 0.95].map(load => ({ load, ...replay(jobs, load) }))
type Row = Replay & { load: number }
console.log(
  toTable<Row>(rows, [
    ['load', row => number(row.load, 2)],
    ['jobs', row => number(row.jobs)],
    ['given a range', row => number(row.promised)],
    ['waited', row => number(row.waited)],
    ['by the p90', row => percent(row.byP90)],
    ['by the p50', row => percent(row.byP50)],
    ['between both', row => percent(row.inRange)],
  ]),
)
