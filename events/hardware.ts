import { decodeJson, encodeJson } from './fact.ts'

/** The readings of one GPU, or of the machine itself, at one moment. */
export type HardwarePoint = {
  /** By the clock of the machine that measured, epoch milliseconds. */
  ts_ms: number
  node: string | null
  rank: number | null
  scope: 'gpu' | 'host'
  /** The number of the GPU on its machine. */
  index: number | null
  uuid: string | null
  /** By name, which ends with the unit; only known readings. */
  readings: Readonly<Record<string, number>>
  /** Why the GPU ran slower than it could; empty if it did not. */
  throttle: readonly string[]
  /** The driver's error number, if any. */
  xid: number | null
}

/** The body of a `hardware.appended` fact. */
export type HardwareAppended = { points: readonly HardwarePoint[] }

export const encodeHardware = (data: HardwareAppended): Buffer => encodeJson(data)
export const decodeHardware = (body: Buffer): HardwareAppended =>
  decodeJson(body) as HardwareAppended
