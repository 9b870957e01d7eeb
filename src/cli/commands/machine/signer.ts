import type { CliCommand } from '../../command.ts'

/** `signer` alone is last: a command is found by the first words that fit. */
export const signerCommands: CliCommand[] = [
  {
    name: 'signer seal-key',
    about: 'Write the seal key of this service to a new file, for SIGNER_SEAL_KEY of trilho signer',
    options: {
      to: {
        type: 'string',
        value: 'FILE',
        about: 'The file, which must not exist; - prints the key',
        required: true,
      },
    },
    examples: ['trilho signer seal-key --to seal_key'],
    who: 'machine',
    runWith: async (input, reach) => (await import('../../machine/signer.ts')).writeSealKey(input, reach),
  },
  {
    name: 'signer check',
    about:
      'Ask the signer at SIGNER_URL for its wallets, and whether it has the seal key of this service; exits 1 if something differs',
    examples: ['trilho signer check', 'trilho signer check --json'],
    who: 'machine',
    runWith: async (_, reach) => (await import('../../machine/signer.ts')).checkSigner(reach),
  },
  {
    name: 'signer verify-log',
    about: 'Verify the chained log of the signer in SIGNER_LOG_DIR; exits 1 if a line was changed or removed',
    options: {
      dir: { type: 'string', value: 'FOLDER', about: 'The folder of the log; SIGNER_LOG_DIR when absent' },
      head: {
        type: 'string',
        value: 'LINES:HASH',
        about: 'A head that was noted earlier: the log must still have this line',
      },
    },
    examples: [
      'trilho signer verify-log',
      'trilho signer verify-log --dir /backup/signer --head 4711:9f86d0…',
    ],
    who: 'machine',
    alone: true,
    run: async (input) => (await import('../../machine/signer.ts')).verifySignatures(input),
  },
  {
    name: 'signer',
    about: 'Keep the keys of wallets in a process of its own, and sign for the service until told to stop',
    examples: ['trilho signer'],
    who: 'machine',
    alone: true,
    run: async (input) => (await import('../../machine/signer.ts')).runSigner(input),
  },
]
