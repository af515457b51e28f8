import { size } from '../terminal/amounts.ts'

/** How much has been transferred; the size is null until the hub has named it. */
export const doneOf = ({ bytes, bytes_done }: { bytes: number | null; bytes_done: number }) =>
  bytes === null ? '-' : `${size(bytes_done)} of ${size(bytes)}`
