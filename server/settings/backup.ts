import {
  type Environment,
  givenOf,
  type Settings,
  text,
  whole,
  withoutEffect,
} from '../../platform/settings.ts'

export type BackupConfig = {
  /** The folder of scheduled backups; null: none are made. */
  backupDir: string | null
  backupIntervalHours: number
  /** How many scheduled backups are kept. */
  backupKeep: number
}

const schedule: Settings<Omit<BackupConfig, 'backupDir'>> = {
  backupIntervalHours: ['SERVICE_BACKUP_INTERVAL_HOURS', whole(24, 1, 8760)],
  backupKeep: ['SERVICE_BACKUP_KEEP', whole(7, 1, 1000)],
}

export const backupSettings: Settings<BackupConfig> = {
  backupDir: ['SERVICE_BACKUP_DIR', text(null)],
  ...schedule,
}

export const backupFaults = (env: Environment): string[] =>
  env.SERVICE_BACKUP_DIR ? [] : withoutEffect(givenOf(schedule, env), 'SERVICE_BACKUP_DIR')
