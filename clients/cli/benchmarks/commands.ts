import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  benchBoard,
  benchDefine,
  benchHistory,
  benchList,
  describeBenchBoard,
  describeBenchDefine,
  describeBenchHistory,
  describeBenchList,
} from './catalogue.ts'

/** `forge bench …`: the catalogue of benchmarks and their leaderboards. */
export function addBenchmarks(program: Command, world: World, ended: (code: number) => void): void {
  const bench = program.command('bench').description('benchmarks and their leaderboards')
  speakingIn(
    bench,
    world,
    ended,
  )({
    ls: [describeBenchList, benchList],
    board: [describeBenchBoard, benchBoard],
    history: [describeBenchHistory, benchHistory],
    define: [describeBenchDefine, benchDefine],
  })
}
