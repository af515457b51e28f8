/** The server cannot start, for a reason that whoever starts it can remove; `message` says how. */
export class CannotStart extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'CannotStart'
  }
}
