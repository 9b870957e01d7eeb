/** SQL: system identifier and timeline, as one text. A restored copy and a promoted standby have another one than the original. */
export const INCARNATION = `(SELECT system_identifier::text FROM pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`
