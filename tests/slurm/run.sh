#!/usr/bin/env bash
# The workflow on a real Slurm: 4 shards, one job killed by scancel while it runs and submitted again, and records that
# are those of a run without Slurm, letter by letter and text by text. Prints PASS or FAIL and ends with 0 or 1.
#
# Needs root and a Debian machine without a Slurm of its own: apt-get install slurm-wlm munge. It writes
# /etc/slurm/slurm.conf (one node, no accounting), starts munged, slurmctld and slurmd, and takes all of them away again.
# Snakemake with its Slurm executor is the extra `cluster`, in any Python: SNAKEMAKE=path (default: the one on PATH).
#
#   tests/slurm/run.sh          or   make test-slurm SNAKEMAKE=...
set -euo pipefail
cd "$(dirname "$0")/../.."
SNAKEMAKE=$(command -v "${SNAKEMAKE:-snakemake}") || { echo "no snakemake: pip install -c constraints.txt -e '.[cluster]'"; exit 1; }
export PATH="$(dirname "$SNAKEMAKE"):$PATH"
NSH=${NSH:-.venv/bin/nsh}
CONF=/etc/slurm/slurm.conf
PARAMS=tests/slurm/params.yaml
CONDITIONS=(extract story_schema)  # they share a call, so one waits for the other
[ "$(id -u)" = 0 ] || { echo "this test starts Slurm's daemons: run it as root"; exit 1; }
for program in munged slurmctld slurmd; do
    command -v $program >/dev/null || { echo "no $program: apt-get install slurm-wlm munge"; exit 1; }
done
[ ! -e $CONF ] || { echo "$CONF exists: this machine has a Slurm of its own"; exit 1; }

work=$(mktemp -d)
pids=()
clean() {
    local status=$?
    scancel --user root 2>/dev/null || true
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -f $CONF
    if [ $status = 0 ]; then rm -rf "$work"; echo PASS; else echo "FAIL (logs in $work)"; exit 1; fi
}
trap clean EXIT

begun=$SECONDS
say() { echo "[$((SECONDS - begun)) s] $*"; }

if [ ! -S /run/munge/munge.socket.2 ]; then
    install -d -o munge -g munge -m 0755 /run/munge
    runuser -u munge -- munged --foreground >"$work/munged.log" 2>&1 & pids+=($!)
fi
node=$(slurmd -C | head -1)
mkdir -p "$work/state" "$work/spool"
cat >$CONF <<END
ClusterName=test
SlurmctldHost=$(hostname -s)
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MinJobAge=600
$node State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
sleep 2
slurmctld -D >"$work/slurmctld.log" 2>&1 & pids+=($!)
slurmd -D >"$work/slurmd.log" 2>&1 & pids+=($!)
for _ in $(seq 60); do sinfo --noheader --states=idle 2>/dev/null | grep -q idle && break; sleep 1; done
sinfo --noheader --states=idle | grep -q idle
say "Slurm is up: $(sinfo --noheader --format '%P %D node, %c processors, %T')"

export NSH_PACKAGED=off
NSH_STORE=$work/cluster "$SNAKEMAKE" generations --profile workflow/profiles/slurm --slurm-init-seconds-before-status-checks 5 \
    --config params=$PARAMS shards=4 nsh="$NSH" markers="$work/markers" conditions="[$(IFS=,; echo "${CONDITIONS[*]}")]" \
    >"$work/snakemake.log" 2>&1 & snakemake=$!; pids=($snakemake "${pids[@]}")
victim=
while [ -z "$victim" ] && kill -0 $snakemake 2>/dev/null; do
    # one that has run for three seconds, and is not the last of its chain
    victim=$(squeue --noheader --states=RUNNING --format '%i %M %k' | awk '$2 ~ /:0[3-9]|:[1-5][0-9]/ {print $1; exit}')
    sleep 0.5
done
[ -n "$victim" ] || { tail -30 "$work/snakemake.log"; exit 1; }
comment=$(squeue --noheader --job "$victim" --format '%k')
scancel "$victim"
for _ in $(seq 30); do scontrol show job "$victim" | grep -q JobState=CANCELLED && break; sleep 1; done
scontrol show job "$victim" | grep -q JobState=CANCELLED
say "killed job $victim ($comment) while it ran"
wait $snakemake || { tail -50 "$work/snakemake.log"; exit 1; }
jobs=$(grep -c "has been submitted with SLURM jobid" "$work/snakemake.log")
markers=$(find "$work/markers" -type f | wc -l)
say "done on Slurm: $jobs submissions for $markers shards"
[ "$markers" = $((4 * ${#CONDITIONS[@]})) ]
[ "$jobs" = $((markers + 1)) ]

asked=(-f $PARAMS --with-text)
for condition in "${CONDITIONS[@]}"; do asked+=(--condition "$condition"); done
NSH_STORE=$work/cluster NSH_ENGINE=store "$NSH" records "${asked[@]}" --out "$work/cluster.csv"
NSH_STORE=$work/local "$NSH" records "${asked[@]}" --out "$work/local.csv"
say "made the same records without Slurm"
python3 - "$work/cluster.csv" "$work/local.csv" <<'END'
import csv, sys

rows = [[{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(open(file, encoding="utf-8", newline=""))] for file in sys.argv[1:]]
differ = [(a, b) for a, b in zip(*rows) if a != b]
print(f"{len(rows[0])} and {len(rows[1])} records, {len(differ)} differ; letters {[row['letter'] for row in rows[0]][:12]} ...")
sys.exit(bool(differ) or len(rows[0]) != len(rows[1]) or not rows[0])
END
