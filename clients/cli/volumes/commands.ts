import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import { describeVolumeCreate, describeVolumeGrow, volumeCreate, volumeGrow } from './create.ts'
import { describeVolumeFiles, volumeFiles } from './files.ts'
import { describeVolumeRemove, volumeRemove } from './remove.ts'
import { describeVolumeSnapshot, volumeSnapshot } from './snapshot.ts'
import { describeVolumeList, describeVolumeShow, volumeList, volumeShow } from './volumes.ts'

/** `forge volume …`: folders that outlive jobs. */
export function addVolumes(program: Command, world: World, ended: (code: number) => void): void {
  const volume = program
    .command('volume')
    .description('folders that outlive the jobs that use them')
  speakingIn(
    volume,
    world,
    ended,
  )({
    create: [describeVolumeCreate, volumeCreate],
    ls: [describeVolumeList, volumeList],
    show: [describeVolumeShow, volumeShow],
    files: [describeVolumeFiles, volumeFiles],
    grow: [describeVolumeGrow, volumeGrow],
    snapshot: [describeVolumeSnapshot, volumeSnapshot],
    rm: [describeVolumeRemove, volumeRemove],
  })
}
