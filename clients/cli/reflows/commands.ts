import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeReflowCreate,
  describeReflowErase,
  describeReflowList,
  describeReflowPreview,
  describeReflowRemove,
  describeReflowShow,
  reflowCreate,
  reflowErase,
  reflowList,
  reflowPreview,
  reflowRemove,
  reflowShow,
} from './reflows.ts'
import { describeReflowRun, reflowRun } from './run.ts'

/** `forge reflow …`: make datasets from traffic, samples and annotations. */
export function addReflows(program: Command, world: World, ended: (code: number) => void): void {
  const reflow = program
    .command('reflow')
    .description('make datasets from traffic, samples and annotations')
  speakingIn(
    reflow,
    world,
    ended,
  )({
    create: [describeReflowCreate, reflowCreate],
    ls: [describeReflowList, reflowList],
    show: [describeReflowShow, reflowShow],
    preview: [describeReflowPreview, reflowPreview],
    run: [describeReflowRun, reflowRun],
    erase: [describeReflowErase, reflowErase],
    rm: [describeReflowRemove, reflowRemove],
  })
}
