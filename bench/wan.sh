#!/usr/bin/env bash
# A ring of 4 agents in network namespaces, 100 Mbit/s and 1 % loss on every link: 100 rounds of
# a model of about 1 MB with the WAN profile. Needs root, ip, tc and nft.
#
#   bench/wan.sh CONSORT [iroh|tls]
set -euo pipefail

consort=$(realpath "${1:?usage: bench/wan.sh CONSORT [iroh|tls]}")
transport=${2:-iroh}
agents=4
rounds=100
work=$(mktemp -d)

cleanup() {
    kill "${pids[@]}" 2>/dev/null || true
    for i in $(seq 0 $((agents - 1))); do ip netns del "consort$i" 2>/dev/null || true; done
    ip link del consortbr 2>/dev/null || true
    rm -rf "$work"
}
pids=()
trap cleanup EXIT

ip link add consortbr type bridge
ip link set consortbr up
addresses=""
for i in $(seq 0 $((agents - 1))); do
    ip netns add "consort$i"
    ip link add "cveth$i" type veth peer name eth0 netns "consort$i"
    ip link set "cveth$i" master consortbr up
    ip -n "consort$i" addr add "10.77.0.$((i + 1))/24" dev eth0
    ip -n "consort$i" link set eth0 up
    ip -n "consort$i" link set lo up
    # 100 Mbit/s each way, and one packet in a hundred lost on arrival.
    tc -n "consort$i" qdisc add dev eth0 root tbf rate 100mbit burst 64kb latency 50ms
    ip netns exec "consort$i" nft add table inet loss
    ip netns exec "consort$i" nft add chain inet loss in '{ type filter hook input priority 0; }'
    ip netns exec "consort$i" nft add rule inet loss in iif != lo numgen random mod 100 '<' 1 counter drop
    addresses="${addresses:+$addresses,}10.77.0.$((i + 1)):7400"
done

cd "$work"
# 256 hidden units on the digits' 64 pixels would be 19 kB: a wide model makes messages of 1 MB.
"$consort" init lab --agents $agents --graph ring --addresses "$addresses" --transport "$transport" \
    --profile wan --method gut --rounds $rounds --model mlp:3500 --set evaluation.every=1000 >/dev/null
begin=$(date +%s.%N)
for i in $(seq 0 $((agents - 1))); do
    ip netns exec "consort$i" "$consort" agent --plan lab/plan.toml --id "$i" \
        --key "lab/keys/agent-$i.key" --threads 1 >"agent-$i.out" 2>&1 &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
end=$(date +%s.%N)
pids=()
cat agent-*.out
echo
python3 - "$begin" "$end" $rounds $agents <<'PY'
import json, os, sys
begin, end, rounds, agents = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
for agent in range(agents):
    lines = [json.loads(line) for line in open(f"lab/agent-{agent}/links.jsonl")]
    total = {key: sum(line["times"][key] for line in lines) for key in ("compute", "wait", "transfer")}
    last = lines[-1]["links"]
    sent = sum(link["bytes_sent"] for link in last)
    lost = sum(link["retransmissions"] for link in last)
    print(f"agent {agent}: {sent / 1e6:.0f} MB sent, {lost} packets sent again, "
          f"compute {total['compute']:.1f} s, wait {total['wait']:.1f} s, transfer {total['transfer']:.1f} s")
seconds = end - begin
size = os.path.getsize("lab/agent-0/model.safetensors")
print(f"{rounds} rounds of {size / 1e6:.2f} MB to two neighbours: {seconds:.1f} s, "
      f"{1000 * seconds / rounds:.0f} ms a round (at 100 Mbit/s two messages take {2 * size * 8 / 1e8 * 1000:.0f} ms)")
PY
