// SPDX-License-Identifier: BSD-3-Clause
// A 4:1 incast of UDP in ns-3: four hosts send a quarter of a 40 Gb/s link each to a fifth, which answers each packet,
// through one router. Frames take as long on the wire as those of config/incast-4to1.ini and their ACKs. There is no
// congestion control, no ECN, no pause and no shared buffer, and packets have no bytes but headers.
//
//     ns3_incast MILLISECONDS
//
// Prints {"hops": N}: links that packets crossed.
#include <cstdio>
#include <cstdlib>

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"

using namespace ns3;

namespace
{
constexpr unsigned kSenders = 4;
// On the wire 1106 and 86 bytes with FCS, preamble and gap; here with IP, UDP and PPP.
constexpr uint32_t kDataBytes = 1106 - 20 - 8 - 2, kAnswerBytes = 86 - 20 - 8 - 2;
constexpr uint16_t kPort = 4791;

uint64_t arrived;

class Sender
{
  public:
    Sender(Ptr<Node> node, Address peer, Time gap)
        : m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId())), m_gap(gap)
    {
        m_socket->Bind();
        m_socket->Connect(peer);
        m_socket->SetRecvCallback(MakeCallback(&Sender::Receive, this));
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(kDataBytes));
        Simulator::Schedule(m_gap, &Sender::Send, this);
    }

  private:
    void Receive(Ptr<Socket> socket)
    {
        while (socket->Recv())
            arrived++;
    }

    Ptr<Socket> m_socket;
    Time m_gap;
};

void Answer(Ptr<Socket> socket)
{
    Address from;

    while (socket->RecvFrom(from)) {
        arrived++;
        socket->SendTo(Create<Packet>(kAnswerBytes), 0, from);
    }
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    NodeContainer hosts(kSenders + 1), router(1);
    InternetStackHelper stack;
    PointToPointHelper link;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4Address receiver;

    stack.SetIpv6StackInstall(false);
    stack.Install(hosts);
    stack.Install(router);
    link.SetDeviceAttribute("DataRate", StringValue("40Gbps"));
    link.SetChannelAttribute("Delay", StringValue("1us"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    for (unsigned i = 0; i <= kSenders; i++) {
        auto devices = link.Install(hosts.Get(i), router.Get(0));

        receiver = addresses.Assign(devices).GetAddress(0);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto sink = Socket::CreateSocket(hosts.Get(kSenders), UdpSocketFactory::GetTypeId());
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    sink->SetRecvCallback(MakeCallback(&Answer));
    // A quarter of the receiver's link each, not all at one instant.
    Time gap = Seconds(1106.0 * 8 * kSenders / 40e9);
    for (unsigned i = 0; i < kSenders; i++) {
        auto *sender = new Sender(hosts.Get(i), InetSocketAddress(receiver, kPort), gap);

        Simulator::Schedule(gap * i / kSenders, &Sender::Send, sender);
    }
    Simulator::Stop(MilliSeconds(std::atoi(argv[1])));
    Simulator::Run();
    std::printf("{\"hops\": %llu}\n", 2ull * arrived);
    Simulator::Destroy();
    return 0;
}
