/** What a worker registers: every workflow under its own name. */
export {}
