import { CannotStart } from '../../platform/cannot-start.ts'

/** A backup or a restore that was not done; the message says why, and what would help. */
export class BackupRefused extends CannotStart {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupRefused'
  }
}

/** Another process is making a backup in the same folder. */
export class BackupUnderWay extends BackupRefused {}

/** How many faults a message lists. */
const shownFaults = 20

/** A backup that is damaged or incomplete; `faults` has a line for each fault. */
export class BadBackup extends BackupRefused {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    const more = faults.length - shownFaults
    super(
      [
        'The backup is damaged:',
        ...faults.slice(0, shownFaults).map(fault => `  - ${fault}`),
        ...(more > 0 ? [`  - and ${more} more`] : []),
      ].join('\n'),
    )
    this.name = 'BadBackup'
    this.faults = faults
  }
}
