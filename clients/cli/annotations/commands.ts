import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  annotateAgreement,
  annotateClose,
  annotateExport,
  annotateList,
  annotateNew,
  annotateReopen,
  annotateShow,
  describeAnnotateAgreement,
  describeAnnotateClose,
  describeAnnotateExport,
  describeAnnotateList,
  describeAnnotateNew,
  describeAnnotateReopen,
  describeAnnotateShow,
} from './annotations.ts'

/** `forge annotate …`: queues of samples and rows that people compare, score or correct. */
export function addAnnotations(
  program: Command,
  world: World,
  ended: (code: number) => void,
): void {
  const annotate = program
    .command('annotate')
    .description('queues of samples and rows that people compare, score or correct')
  speakingIn(
    annotate,
    world,
    ended,
  )({
    ls: [describeAnnotateList, annotateList],
    new: [describeAnnotateNew, annotateNew],
    show: [describeAnnotateShow, annotateShow],
    agreement: [describeAnnotateAgreement, annotateAgreement],
    export: [describeAnnotateExport, annotateExport],
    close: [describeAnnotateClose, annotateClose],
    reopen: [describeAnnotateReopen, annotateReopen],
  })
}
